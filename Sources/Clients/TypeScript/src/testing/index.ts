// What tests of apps use in the place of a server, a network and a clock. Nothing here checks a signature.

export {FakeServer} from "./fake-server.js"
export type {FakeUser} from "./fake-server.js"
export {FaultyTransport} from "./faulty-transport.js"
export type {Fault} from "./faulty-transport.js"
export {ManualClock} from "./manual-clock.js"
export {testPlatform, TestKeys} from "./test-platform.js"
