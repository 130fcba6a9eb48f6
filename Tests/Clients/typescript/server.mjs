// The real server for the programs of this folder, and the mail server to which it sends.

import {spawn} from "node:child_process"
import {existsSync, mkdtempSync, readFileSync, rmSync} from "node:fs"
import {createServer} from "node:net"
import {tmpdir} from "node:os"
import {randomBytes} from "node:crypto"

/** A mail server that takes everything. */
function mailServer() {
    const mails = []
    const server = createServer((socket) => {
        let [text, isData] = ["", false]
        const say = (line) => socket.write(line + "\r\n")
        say("220 test")
        socket.setEncoding("utf8").on("error", () => {}).on("data", (part) => {
            text += part
            for (;;) {
                const end = isData ? text.indexOf("\r\n.\r\n") : text.indexOf("\r\n")
                if (end < 0) return
                const line = text.slice(0, end)
                text = text.slice(end + (isData ? 5 : 2))
                if (isData) mails.push(line)
                isData = !isData && /^DATA/i.test(line)
                say(isData ? "354 go on" : /^QUIT/i.test(line) ? "221 bye" : "250 ok")
            }
        })
    })
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({server, mails})))
}

/** Starts `sojourn serve` in a folder of its own. */
export async function startServer(program, environment = {}) {
    const folder = mkdtempSync(tmpdir() + "/sojourn-")
    const {server: mailer, mails} = await mailServer()
    const key = randomBytes(24).toString("hex")
    const child = spawn(program, [
        "serve", "--database", `sqlite:${folder}/sojourn.sqlite`, "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0",
        "--root-key-file", folder + "/root-key", "--ready-file", folder + "/ready.json", "--log-level", "error",
    ], {
        cwd: folder, stdio: ["ignore", "ignore", "inherit"],
        env: {
            PATH: process.env.PATH, SOJOURN_ADMIN_KEY: key, TMPDIR: folder, SOJOURN_MAIL_FROM: "Test <login@sojourn.test>",
            SOJOURN_MAIL_RELAY: `smtp://127.0.0.1:${mailer.address().port}`, SOJOURN_ACCOUNTS_SIGN_UP: "open", ...environment,
        },
    })
    while (!existsSync(folder + "/ready.json")) await new Promise((resume) => setTimeout(resume, 5))
    const ready = JSON.parse(readFileSync(folder + "/ready.json", "utf8"))
    const admin = async (method, path, members) => {
        const answer = await fetch(`${ready.admin}/admin/v1/${path}`, {
            method, headers: {Authorization: "Bearer " + key, "Content-Type": "application/json"},
            body: members ? JSON.stringify(members) : undefined,
        })
        const text = await answer.text()
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
        return text ? JSON.parse(text) : null
    }
    /** The code of the last mail to a mailbox that has one which is not known yet. */
    const mailedCode = async (to, known = []) => {
        for (;;) {
            for (const mail of [...mails].reverse()) {
                const code = mail.includes(to) && /^\s*(\d{4} ?\d{4}|\d{6,8})\s*$/m.exec(mail)?.[1]?.replace(" ", "")
                if (code && !known.includes(code)) return code
            }
            await new Promise((resume) => setTimeout(resume, 5))
        }
    }
    const stop = () => {
        child.kill("SIGKILL")
        mailer.close()
        rmSync(folder, {recursive: true, force: true})
    }
    return {url: ready.public, folder, admin, mails, mailedCode, stop}
}
