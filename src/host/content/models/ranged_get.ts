// Reads a file on a server in ranges: one simple GET for each piece, continued where the connection
// was cut. What a server does wrong is said in a sentence with what a person can do.
import type { RangedFile } from '../../../formats/ranged_file.ts'

/** What came back of one GET with `Range: bytes=begin-…`. */
export interface GetAnswer {
  readonly status: number
  /** Of Content-Range: the first byte, and the bytes of the whole file; undefined where the server
   * does not let a page read it. */
  readonly first?: number | undefined
  readonly total?: number | undefined
  /** Of Content-Length. */
  readonly length?: number | undefined
  /** At most as many as were asked for. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whether the connection ended before the answer did. */
  readonly isCut: boolean
}

/** Asks a server for bytes begin … end − 1. Throws NoAnswer where nothing came that a page may
 * read. */
export type RangedGet = (address: string, begin: number, end: number) => Promise<GetAnswer>

/** A request was blocked, by the server's missing permission or this page's own rules, or there is
 * no connection. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

const INSTEAD = 'Download the model’s folder another way and choose it here.'
/** Tries of one piece that bring nothing. */
const MOST_TRIES = 4
const PAUSE_MS = 500
const BUSY: readonly number[] = [429, 500, 502, 503, 504]

/** Waits between two tries; tests do not. */
export type Pause = (ms: number) => Promise<void>
const pauseFor: Pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** A file whose size is known. `read` throws errors whose messages are sentences. */
export function httpFile(
  {
    name,
    address,
    size,
  }: { readonly name: string; readonly address: string; readonly size: number },
  get: RangedGet,
  pause: Pause = pauseFor,
): RangedFile {
  let hasAnswered = false
  const ask = async (at: number, end: number): Promise<GetAnswer | 'busy' | 'gone'> => {
    try {
      const answer = await get(address, at, end)
      hasAnswered = true
      return BUSY.includes(answer.status) ? 'busy' : answer
    } catch (error) {
      // A server that has answered before was allowed: it is the connection that is missing.
      if (hasAnswered && error instanceof NoAnswer) return 'gone'
      throw error
    }
  }
  return {
    name,
    size,
    read: async (begin, end) => {
      const bytes = new Uint8Array(end - begin)
      for (let at = begin, tries = 1; at < end; tries++) {
        const asked = { name, address, size, at, end }
        const answer = await ask(at, end)
        if (typeof answer === 'object') {
          refuseWrong(answer, asked)
          bytes.set(answer.bytes, at - begin)
          at += answer.bytes.length
          if (answer.bytes.length > 0) tries = 0
          else if (!answer.isCut) throw new Error(tooShort(asked))
        }
        if (tries === MOST_TRIES) throw new Error(stopped(answer, asked))
        if (tries > 0) await pause(PAUSE_MS * 2 ** tries)
      }
      return bytes
    },
  }
}

interface Asked {
  readonly name: string
  readonly address: string
  readonly size: number
  readonly at: number
  readonly end: number
}

function stopped(answer: unknown, { name, address, at, size }: Asked): string {
  const { host } = new URL(address)
  return answer === 'busy'
    ? `${host} is busy and sends nothing of ${name} now. Try again later: what has arrived is kept.`
    : `The connection to ${host} was cut at byte ${at} of ${size} of ${name}. Fetch it again: what has arrived is kept.`
}

const tooShort = ({ name, address, at, size }: Asked): string =>
  `${new URL(address).host} sent ${at} bytes of ${name}, where it had said ${size}. The file is not what it was said to be. ${INSTEAD}`

/** Throws for an answer that is not the part of the file that was asked for. */
function refuseWrong(answer: GetAnswer, asked: Asked): void {
  const { name, address, size, at, end } = asked
  const { status, first, total, length, bytes } = answer
  const { host } = new URL(address)
  if (status === 416) throw new Error(tooShort(asked))
  if (status !== 206 && status !== 200) throw new Error(refusal(status, name, address))
  if (status === 200 && (at > 0 || end < size))
    throw new Error(
      `${host} does not send parts of files (it answered 200 instead of 206), so ${name} cannot be read piece by piece. ${INSTEAD}`,
    )
  if (first !== undefined && first !== at)
    throw new Error(
      `${host} sent ${name} from byte ${first} where byte ${at} was asked for. ${INSTEAD}`,
    )
  if ((total ?? size) !== size || (status === 200 && (length ?? size) !== size))
    throw new Error(
      `${host} says that ${name} has ${total ?? length} bytes, after it had said ${size}. The file was changed meanwhile, or the server is wrong: look for the model again.`,
    )
  if (bytes.length > end - at) throw new Error(`${host} sent more of ${name} than was asked for.`)
}

/** Why a server gives nothing, by its status. */
export function refusal(status: number, name: string, address: string): string {
  const { host } = new URL(address)
  if (status === 404 || status === 410) return `There is no ${name} at ${address}.`
  if (status === 401 || status === 403)
    return `${host} gives ${name} only to those who log in: it is private or gated. Download it with your account and choose the folder here.`
  return `${host} answered ${status} when it was asked for ${name}. ${INSTEAD}`
}

/** The size of a file, by its first byte: undefined where there is no such file. Throws where the
 * server does not say it. */
export async function sizeAt(
  get: RangedGet,
  name: string,
  address: string,
): Promise<number | undefined> {
  const { status, total, length } = await get(address, 0, 1)
  if (status === 404 || status === 410) return undefined
  // A file of no bytes has no first one.
  if (status === 416) return total ?? 0
  if (status === 200 && length !== undefined) return length
  if (status !== 206 && status !== 200) throw new Error(refusal(status, name, address))
  if (total !== undefined) return total
  // Content-Range is hidden from pages that it was not opened to. Of the whole file, Content-Length
  // never is.
  const whole = await get(address, 0, Number.POSITIVE_INFINITY)
  if (whole.length !== undefined) return whole.length
  throw new Error(`${new URL(address).host} does not say how large ${name} is. ${INSTEAD}`)
}
