// Cases 1 to 16: what a store of sessions keeps. Each is run on the store in memory and on SQLite.
import { InMemorySessionService } from '@google/adk';
import { APP, SESSION, USER, event, refused, sorted } from './lib.mjs';

const KEY = { appName: APP, userId: USER, sessionId: SESSION };
const reload = async (store, key = KEY) => store.getSession(key);
const stateOf = async (store, key = KEY) => sorted((await reload(store, key)).state);
const ids = (session) => session.events.map((e) => e.id);

async function append(store, session, e) {
  return store.appendEvent({ session, event: e });
}

async function case1(store, see) {
  const made = await store.createSession({
    ...KEY, state: { k: 1, 'app:a': 2, 'user:u': 3, 'temp:t': 4 } });
  see('state at the beginning', sorted(made.state));
  see('state after a reload', await stateOf(store));
}

async function case2(store, see) {
  await store.createSession({ ...KEY, state: { k: 1, 'app:a': 2, 'user:u': 3 } });
  const other = async (appName, userId) =>
    sorted((await store.createSession({ appName, userId })).state);
  see('a new session of the same user', await other(APP, USER));
  see('a new session of another user', await other(APP, 'bob'));
  see('a new session of another application', await other('shop', USER));
}

async function case3(store, see) {
  await store.createSession({ ...KEY, state: { k: 1 } });
  see('an id that exists', await refused(() => store.createSession({ ...KEY, state: { k: 2 } })));
  see('the old state', await stateOf(store));
}

async function case4(store, see) {
  const bob = { ...KEY, userId: 'bob' };
  await store.createSession({ ...KEY, state: { k: 1 } });
  see('the same id for another user', await refused(async () => {
    const session = await store.createSession(bob);
    await append(store, session, event('e', { actions: { stateDelta: { k: 2 } } }));
  }));
  see('state of the first', await stateOf(store));
}

async function case5(store, see) {
  const session = await store.createSession(KEY);
  const stateDelta = { k: 1, 'app:x': 1, 'user:y': 1, 'temp:z': 1, n: null };
  await append(store, session, event('e', { actions: { stateDelta } }));
  see('state after a reload', await stateOf(store));
  const stored = (await reload(store)).events[0].actions.stateDelta;
  see('a temp: value is stored', 'temp:z' in stored);
}

async function case6(store, see) {
  const session = await store.createSession(KEY);
  const mine = event('e', { actions: { stateDelta: { k: 1, 'temp:z': 1 } } });
  const before = JSON.stringify(mine);
  await append(store, session, mine);
  see('what the caller gave is unchanged', JSON.stringify(mine) === before);
}

async function case7(store, see) {
  const session = await store.createSession(KEY);
  await append(store, session, event('e', { partial: true, actions: { stateDelta: { k: 1 } } }));
  const again = await reload(store);
  see('events after a partial one', ids(again));
  see('state after a partial one', again.state);
}

async function case8(store, see) {
  const session = await store.createSession(KEY);
  await append(store, session, event('e'));
  see('the same event id again', await refused(() => append(store, session, event('e'))));
  see('events', ids(await reload(store)));
}

async function five(store) {
  const session = await store.createSession(KEY);
  for (let i = 1; i <= 5; i++) await append(store, session, event(`f${i}`, { timestamp: i * 1000 }));
  return async (config) => ids(await store.getSession({ ...KEY, config }));
}

async function case9(store, see) {
  const get = await five(store);
  see('the newest two of five', await get({ numRecentEvents: 2 }));
  see('behind the third', await get({ afterTimestamp: 3000 }));
}

async function case10(store, see) {
  const session = await store.createSession(KEY);
  for (let i = 1; i <= 4; i++) await append(store, session, event(`e${i}`, { timestamp: 1000 }));
  see('events of one time', ids(await reload(store)));
}

async function case11(store, see) {
  const session = await store.createSession(KEY);
  for (let i = 1; i <= 4; i++)
    await append(store, session, event(`e${i}`, { timestamp: 5000 - i * 1000 }));
  see('events whose times go back', ids(await reload(store)));
}

async function case12(store, see) {
  const session = await store.createSession(KEY);
  await store.deleteSession(KEY);
  see('writing to a deleted session', await refused(() => append(store, session, event('e'))));
}

async function case13(store, see) {
  await store.createSession({ ...KEY, state: { k: { deep: 1 } } });
  const copy = await reload(store);
  copy.state.k.deep = 2;
  copy.state.more = 1;
  see('what is stored after a copy was changed', await stateOf(store));
}

const KEYS = { snake_case: { camelCase: 1, snake_key: [{ aB: 1, a_b: 2 }] }, CamelTop: { x_y: 1 } };

async function case14(store, see) {
  const session = await store.createSession(KEY);
  await append(store, session, event('e', { actions: { stateDelta: KEYS } }));
  see('names of users after a reload', await stateOf(store));
}

async function case15(store, see) {
  await store.createSession(KEY);
  const copies = await Promise.all(Array.from({ length: 50 }, () => reload(store)));
  const all = await Promise.allSettled(copies.map((session, i) =>
    append(store, session, event(`e${i}`, { actions: { stateDelta: { [`k${i}`]: i } } }))));
  const end = await reload(store);
  see('events of fifty writers', end.events.length);
  see('keys of fifty writers', Object.keys(end.state).length);
  see('errors of fifty writers', all.filter((a) => a.status === 'rejected').length);
}

async function case16(store, see) {
  await store.createSession(KEY);
  const [a, b] = [await reload(store), await reload(store)];
  await append(store, a, event('a', { actions: { stateDelta: { a: 1 } } }));
  see('a writer that has not seen the last event', await refused(() =>
    append(store, b, event('b', { actions: { stateDelta: { b: 1 } } }))));
  see('what that writer sees afterwards', sorted(b.state));
  see('what is stored', await stateOf(store));
}

const CASES = [case1, case2, case3, case4, case5, case6, case7, case8, case9, case10, case11, case12,
  case13, case14, case15, case16];

// Every case on a store of its own.
async function stores() {
  const made = { memory: async () => new InMemorySessionService() };
  try {
    const { SqliteDriver } = await import('@mikro-orm/sqlite');
    const { DatabaseSessionService } = await import('@google/adk');
    made.sqlite = async () => {
      const store = new DatabaseSessionService({ dbName: ':memory:', driver: SqliteDriver });
      await store.init();
      return store;
    };
  } catch (e) {
    process.stderr.write(`skipped: the ADK on SQLite (${e.code ?? e.message})\n`);
  }
  return made;
}

export async function storeCases() {
  const table = [];
  for (const [on, open] of Object.entries(await stores()))
    CASES.forEach((run, i) =>
      table.push([`ADK-${i + 1}`, async (see) => run(await open(), see), on]));
  return table;
}
