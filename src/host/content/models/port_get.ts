// Plays the worker's side of fetch.html: requests go out through a port, to the frame that a person
// has allowed to make them.
import { type GetAnswer, NoAnswer, type RangedGet } from './ranged_get.ts'

/** What the frame says. `open`: the person has agreed. */
type FrameMessage =
  | { readonly open: true }
  | { readonly refused: string }
  | ({ readonly id: number } & GetAnswer)
  | { readonly id: number; readonly failed: string }

const BLOCKED =
  'The server gave no answer that a page may read. Either there is no connection, or the server does not allow pages of other sites (CORS), or it leads on to another site than the one you allowed. Download the model’s folder another way and choose it here.'

/** What ends a connection. `unasked`: only until the person has agreed. */
export interface Endings {
  readonly signal: AbortSignal
  readonly unasked: AbortSignal
}

/** Waits until the person agrees. Rejects with a sentence where they do not, and when it is
 * ended. */
export async function openPort(
  port: MessagePort,
  { signal, unasked }: Endings,
): Promise<RangedGet> {
  AbortSignal.any([signal, unasked]).throwIfAborted()
  const waiting = new Map<
    number,
    { resolve(answer: GetAnswer): void; reject(error: Error): void }
  >()
  let count = 0
  const fail = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  const agreed = new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => {
      port.close()
      fail(signal.reason)
      reject(signal.reason)
    })
    unasked.addEventListener('abort', () => reject(unasked.reason))
    port.onmessage = ({ data }: MessageEvent<FrameMessage>) => {
      if ('open' in data) resolve()
      else if ('refused' in data) reject(new Error(data.refused))
      else {
        const own = waiting.get(data.id)
        waiting.delete(data.id)
        if ('failed' in data) own?.reject(new NoAnswer(BLOCKED))
        else own?.resolve(data)
      }
    }
  })
  await agreed
  return (address, begin, end) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const id = ++count
      waiting.set(id, { resolve, reject })
      port.postMessage({ id, address, begin, end })
    })
}
