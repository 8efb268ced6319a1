// Declares the part of ws that firefox.ts uses: the package brings no types.
declare module 'ws' {
  export default class WebSocket {
    constructor(address: string)
    once(event: 'open', heard: () => void): void
    once(event: 'error', heard: (error: Error) => void): void
    on(event: 'message', heard: (data: { toString(): string }) => void): void
    on(event: 'close', heard: () => void): void
    send(text: string): void
    close(): void
  }
}
