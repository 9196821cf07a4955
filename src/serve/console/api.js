// api.js - talking to the server: requests with the token in a header, and streams that are taken up where they broke.

class ApiError extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

const token = {
  value: null,
  load() {
    const given = new URLSearchParams(location.hash.slice(1)).get('token');
    if (given) {
      this.set(given, false);
      history.replaceState(null, '', location.pathname); // it stays neither in the address nor in the history
    }
    this.value = this.value || sessionStorage.getItem('hob.token') || localStorage.getItem('hob.token');
    return this.value;
  },
  set(value, remember) {
    this.value = value;
    sessionStorage.setItem('hob.token', value);
    if (remember) localStorage.setItem('hob.token', value);
  },
  forget() {
    this.value = null;
    sessionStorage.clear(); // drafts as well
    localStorage.removeItem('hob.token');
  },
};

async function failure(response) {
  let body = {};
  try {
    body = (await response.json()).error || {};
  } catch { /* not JSON: the status says enough */ }
  return new ApiError(response.status, body.code || String(response.status),
    body.message || `the server answered ${response.status}`, Number(response.headers.get('retry-after')) || 0);
}

async function request(method, path, body, headers = {}) {
  const options = {method, headers: {authorization: `Bearer ${token.value}`, ...headers}, cache: 'no-store'};
  if (body !== undefined) {
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ApiError(0, 'offline', 'the server does not answer');
  }
  if (!response.ok) throw await failure(response);
  if (method !== 'GET') api.worked();
  return response;
}

const api = {
  worked: () => {},
  get: async (path) => (await request('GET', path)).json(),
  post: async (path, body = {}, headers = {}) => {
    const response = await request('POST', path, body, headers);
    return response.status === 204 ? null : response.json();
  },
  patch: async (path, body) => (await request('PATCH', path, body)).json(),
  blob: async (path) => (await request('GET', path)).blob(),
  delete: async (path) => request('DELETE', path, {}),
};

// ---- server-sent events over fetch: EventSource cannot send a header ----

class SseParser {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.rest = '';
    this.reset();
  }
  reset() {
    this.id = null;
    this.type = 'message';
    this.data = [];
  }
  push(text) {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop();
    for (const line of lines) this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
  line(line) {
    if (line === '') {
      if (this.data.length) this.onEvent({id: this.id, type: this.type, data: this.data.join('\n')});
      this.reset();
      return;
    }
    if (line.startsWith(':')) return;
    const at = line.indexOf(':');
    const name = at < 0 ? line : line.slice(0, at);
    let value = at < 0 ? '' : line.slice(at + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (name === 'data') this.data.push(value);
    else if (name === 'id') this.id = value;
    else if (name === 'event') this.type = value;
  }
}

// A stream that never gives up: state is 'connecting', 'live' or 'waiting' (with the seconds until the next try).
class Stream {
  constructor(path, {after = 0, onEvent, onState = () => {}, onEnd = () => {}}) {
    Object.assign(this, {path, after, onEvent, onState, onEnd, tries: 0, stopped: false});
    this.run();
  }
  stop() {
    this.stopped = true;
    if (this.abort) this.abort.abort();
    clearTimeout(this.timer);
  }
  // Lets go of its connection until now() is called.
  rest() {
    this.stop();
    this.resting = true;
  }
  // Without waiting for the next try.
  now() {
    if (!this.timer && !this.resting) return;
    clearTimeout(this.timer);
    this.stopped = this.resting = false;
    this.run();
  }
  async run() {
    this.timer = null;
    if (this.stopped) return;
    this.onState('connecting');
    const abort = this.abort = new AbortController();
    try {
      await this.read();
      this.tries = 0;
    } catch (error) {
      if (this.stopped || abort.signal.aborted) return; // another one may be under way already
      if ([401, 403, 404, 409].includes(error.status)) return this.onEnd(error);
    }
    if (!this.stopped) this.again();
  }
  again() {
    const wait = Math.min(10000, 300 * 2 ** this.tries++) * (0.75 + Math.random() / 2);
    if (this.tries > 1) this.onState('waiting', wait);
    this.timer = setTimeout(() => this.run(), this.tries > 1 ? wait : 150);
  }
  async read() {
    const headers = {authorization: `Bearer ${token.value}`, accept: 'text/event-stream'};
    if (this.after) headers['last-event-id'] = String(this.after);
    const response = await fetch(this.path, {headers, signal: this.abort.signal, cache: 'no-store'});
    if (!response.ok) throw await failure(response);
    this.onState('live');
    this.tries = 0;
    const parser = new SseParser((e) => {
      if (e.id) this.after = Number(e.id);
      this.onEvent(JSON.parse(e.data), e);
    });
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      parser.push(decoder.decode(value, {stream: true}));
    }
  }
}
