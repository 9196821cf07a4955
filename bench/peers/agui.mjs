// agui.mjs - the peer of bench/serve_peer.c: a Node server that sends N events, encoded by @ag-ui/encoder, to whoever asks.
// GET /N: written as they come, backpressure honoured (Node joins the writes of a tick). GET /live/N: the loop turns after
// every event, as it does when a model streams.
import http from 'node:http';
import {EventType} from '@ag-ui/core';
import {EventEncoder} from '@ag-ui/encoder';

const encoder = new EventEncoder();
const drained = (response) => new Promise((resolve) => response.once('drain', resolve));
const turned = () => new Promise((resolve) => setImmediate(resolve));

async function send(response, n, live) {
  response.writeHead(200, {'content-type': 'text/event-stream', 'connection': 'close'});
  for (let i = 0; i < n; i++) {
    const event = {type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'message-1', delta: `word${i} `};
    if (!response.write(encoder.encodeSSE(event))) await drained(response);
    if (live) await turned();
  }
  response.end();
}

const server = http.createServer((request, response) => {
  const [, live, n] = /^\/(live\/)?(\d+)$/.exec(request.url) || [];
  send(response, Number(n || 0), Boolean(live));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
