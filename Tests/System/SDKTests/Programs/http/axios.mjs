/** Completes each request of an axios instance, and repeats it once after a 401. */
export function attach(instance, session) {
    instance.interceptors.request.use(async config => {
        const url = instance.getUri(config).split(/[?#]/)[0]
        const {authorization, dpop} = await session.authorize((config.method ?? "get").toUpperCase(), url)
        config.headers.set("Authorization", authorization)
        if (dpop) config.headers.set("DPoP", dpop)
        return config
    })
    instance.interceptors.response.use(undefined, async error => {
        const {config, response} = error
        if (response?.status !== 401 || !config || config.isSecondTry) throw error
        await session.reject(config.headers.get("Authorization"))
        return instance.request({...config, isSecondTry: true})
    })
}
