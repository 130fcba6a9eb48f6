const pages = "login|account|device|forgot|reset|sign-up|not-me|v|cancel|undo|assets|e|l|E|L"

export default {
    server: {
        port: 5173, strictPort: true,
        proxy: {[`^/(v1|oauth|\\.well-known|${pages})([/?]|$)`]: "http://127.0.0.1:8080"},
    },
}
