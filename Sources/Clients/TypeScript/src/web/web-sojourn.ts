// The client on platforms with `fetch`.

import {SojournClient} from "../core/client.js"
import {originOf, SojournConfiguration} from "../core/configuration.js"
import {misconfigured, sojournError} from "../core/errors.js"
import {Environment} from "../core/platform.js"
import {APICall} from "../core/session/tokens.js"

type Fetch = typeof globalThis.fetch

export class WebSojourn extends SojournClient {
    constructor(configuration: SojournConfiguration, environment: Environment, private readonly fetchAPI: Fetch) {
        super(configuration, environment)
    }

    /**
     * Calls an API of `apis` with an access token. If it answers 401, the token is renewed once, and the request is sent once more,
     * unless its content is a stream. Another origin gets no token: the error is `misconfigured`, and nothing is sent. If the API asks
     * for the user (RFC 9470), its answer is returned, and the state becomes `presenceRequired`.
     */
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
        const request = typeof input === "object" && "headers" in input ? input : null
        const url = this.absolute(request ? request.url : String(input))
        const apis = this.configuration.apis ?? []
        if (!apis.map(originOf).includes(originOf(url))) {
            throw misconfigured(`${originOf(url)} is not among the "apis" of the configuration: it gets no token`)
        }
        const {fetchAPI} = this
        const body = init.body ?? null
        const isStream = typeof body === "object" && body !== null && "getReader" in body
        const call: APICall<Response> = {
            method: (init.method ?? request?.method ?? "GET").toUpperCase(), url, isRepeatable: !isStream,
            async send(fields) {
                const headers = new Headers(init.headers ?? request?.headers)
                for (const [name, value] of Object.entries(fields)) headers.set(name, value)
                // A redirect would take the token along, so that nothing an app asks for follows one.
                const redirect = (init.redirect ?? request?.redirect) === "manual" ? "manual" : "error"
                // The method in the letters that the proof names.
                const settings: RequestInit = {...init, method: call.method, headers, redirect}
                return await fetchAPI(request ? request.clone() : url, settings).catch((error: unknown) => {
                    throw isAbort(error) ? error : sojournError(error)
                })
            },
            status: (answer) => answer.status,
            field: (answer, name) => answer.headers.get(name),
        }
        return await this.callAPI(call)
    }

    /**
     * The URL of a request to an API, as `fetch` will read it: the same text can name another host to another parser. A browser
     * resolves it against the page.
     */
    protected absolute(url: string, base?: string): string {
        try {
            return new URL(url, base).href
        } catch {
            throw misconfigured("not an absolute URL")
        }
    }
}

const isAbort = (error: unknown): boolean => (error as {name?: string} | null)?.name === "AbortError"
