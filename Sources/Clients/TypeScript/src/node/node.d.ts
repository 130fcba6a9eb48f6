// What the store and the driver use of Node, because Debian has no package with its types. It is not published.

declare const process: {
    argv: string[]
    env: Record<string, string | undefined>
    pid: number
    stdout: {write(text: string): void}
    stdin: AsyncIterable<string> & {setEncoding(name: string): void}
    exit(code: number): never
    kill(pid: number, signal: string): void
}

declare module "node:fs/promises" {
    interface FileHandle {
        writeFile(text: string): Promise<void>
        sync(): Promise<void>
        close(): Promise<void>
    }
    export function open(path: string, flags: string, mode?: number): Promise<FileHandle>
    export function readFile(path: string, encoding: "utf8"): Promise<string>
    export function readdir(path: string): Promise<string[]>
    export function mkdir(path: string, options: {recursive: boolean; mode: number}): Promise<void>
    export function link(from: string, to: string): Promise<void>
    export function rename(from: string, to: string): Promise<void>
    export function rm(path: string, options: {force: boolean}): Promise<void>
}

declare module "node:crypto" {
    export const webcrypto: Crypto
    export function createHash(name: string): {update(text: string): {digest(encoding: "base64url"): string}}
    export function randomBytes(count: number): {toString(encoding: "base64url"): string}
}
