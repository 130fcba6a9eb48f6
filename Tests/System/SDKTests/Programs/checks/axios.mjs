// Runs the recipe against a stand-in for axios: an API that accepts the second token only.
import {attach} from "../http/axios.mjs"

const fields = () => {
    const all = new Map()
    return {set: (name, value) => all.set(name, value), get: name => all.get(name)}
}
let [onRequest, onError, sent, rejected] = [null, null, [], []]
const instance = {
    interceptors: {
        request: {use: handler => { onRequest = handler }},
        response: {use: (_, handler) => { onError = handler }},
    },
    getUri: config => `https://api.example${config.url}`,
    async request(config) {
        config = await onRequest({headers: fields(), ...config})
        const authorization = config.headers.get("Authorization")
        sent.push(authorization)
        if (authorization.endsWith(config.accepts)) return {status: 200}
        return await onError({config, response: {status: 401}})
    },
}
let token = 1
attach(instance, {
    authorize: async (method, url) => {
        if (method !== "GET" || url !== "https://api.example/orders") throw new Error(`${method} ${url}`)
        return {authorization: `DPoP token-${token}`, dpop: "proof"}
    },
    reject: async authorization => { rejected.push(authorization); token += 1 },
})
const answer = await instance.request({url: "/orders?page=2", accepts: "token-2"})
if (answer.status !== 200 || sent.join() !== "DPoP token-1,DPoP token-2" || rejected.join() !== "DPoP token-1") {
    throw new Error(`${sent} ${rejected}`)
}
const error = await instance.request({url: "/orders", accepts: "no"}).catch(error => error)
if (error.response?.status !== 401 || sent.length !== 4) throw new Error(`${sent}`)
