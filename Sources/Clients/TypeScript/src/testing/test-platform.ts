// A platform and keys for tests, of WebCrypto in memory.

import {DeviceKey, Keys, Platform} from "../core/platform.js"
import {webPlatform} from "../web/platform.js"
import {newKeyPair, webDeviceKey} from "../web/webcrypto.js"
import {ManualClock} from "./manual-clock.js"

/** A platform on a clock that the test moves, and a server of the test's own. `crypto` is WebCrypto. */
export const testPlatform = (crypto: Crypto, clock: ManualClock, send: Platform["send"]): Platform => ({
    ...webPlatform({crypto, clock, fetch: () => Promise.reject(new Error("a test has no network"))}), send,
    after: (seconds, action) => clock.after(seconds, action),
})

export class TestKeys implements Keys {
    private made: DeviceKey | null = null

    constructor(private readonly crypto: Crypto) {}

    async key(): Promise<DeviceKey | null> {
        return this.made
    }

    async makeKey(): Promise<DeviceKey> {
        if (this.made) return this.made
        const pair = await newKeyPair(this.crypto, true)
        const jwk = await this.crypto.subtle.exportKey("jwk", pair.publicKey)
        return (this.made ??= await webDeviceKey(this.crypto, pair.privateKey, jwk))
    }

    async deleteKey(): Promise<void> {
        this.made = null
    }
}
