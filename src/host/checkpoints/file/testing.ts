// Changes checkpoint files on purpose, and gives what their reader says of them, for tests.
import type { Series } from '../../columns/series.ts'
import type { Checkpoint } from './checkpoint.ts'
import { CheckpointError } from './checkpoint_error.ts'
import { decodeCheckpoint, encodeCheckpoint, sealed } from './checkpoint_file.ts'

export const FILE = 'step_6.safetensors'

const rows = (series: ReadonlyMap<string, Series>) =>
  [...series].map(([name, { steps, values, length }]) => [
    name,
    [...steps.subarray(0, length)],
    [...values.subarray(0, length)],
  ])

/** Arrays as text: comparing them number by number takes seconds. */
const asText = (_: string, value: unknown): unknown =>
  ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : typeof value === 'number' && !(Number.isFinite(value) && !Object.is(value, -0))
      ? `number ${Object.is(value, -0) ? '-0' : value}`
      : value

/** Columns grow by doubling: only what is in them counts. */
export const plain = ({ history, ...rest }: Checkpoint) =>
  JSON.parse(
    JSON.stringify({ ...rest, history: { ...history, series: rows(history.series) } }, asText),
  )

export const words = (checkpoint: Checkpoint, change: (strings: Record<string, string>) => void) =>
  encodeCheckpoint(checkpoint).then((bytes) => {
    const length = new DataView(bytes.buffer).getUint32(0, true)
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)))
    header.__metadata__.checksum = '0'.repeat(64)
    change(header.__metadata__)
    return withHeader(bytes, header)
  })

/** The data of a file under another header, with the checksum that belongs to it. */
function withHeader(bytes: Uint8Array, header: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const length = new DataView(bytes.buffer).getUint32(0, true)
  const text = new TextEncoder().encode(JSON.stringify(header))
  const other = new Uint8Array(8 + text.length + bytes.length - 8 - length)
  new DataView(other.buffer).setUint32(0, text.length, true)
  other.set(text, 8)
  other.set(bytes.subarray(8 + length), 8 + text.length)
  return sealed(other)
}

export const refusal = async (bytes: Uint8Array): Promise<CheckpointError> => {
  const decoded = await decodeCheckpoint(bytes, FILE).catch((error: unknown) => error)
  if (!(decoded instanceof CheckpointError)) throw new Error(`not refused: ${decoded}`)
  return decoded
}
