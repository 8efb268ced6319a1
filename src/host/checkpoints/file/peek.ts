// Reads what a checkpoint says of itself before a run continues from it. The page does this and
// leaves the checking to the worker.

/** A file that claims to be a checkpoint. */
export interface Peeked {
  /** Name of its experiment. */
  readonly name: string
  readonly step: number
  /** Steps of all phases, as planned. */
  readonly planned: number
  /** The document that does its run again; not checked. */
  readonly document: unknown
  readonly bytes: number
}

const FORMAT = 'understory-checkpoint'
const MAX_HEADER_BYTES = 32_000_000

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const json = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : undefined)

/** Undefined for a file that is none. Never throws. */
export async function peekCheckpoint(file: Blob): Promise<Peeked | undefined> {
  try {
    const view = new DataView(await file.slice(0, 8).arrayBuffer())
    const length = Number(view.getBigUint64(0, true))
    if (length > MAX_HEADER_BYTES || length + 8 > file.size) return undefined
    const header: unknown = JSON.parse(await file.slice(8, 8 + length).text())
    const metadata = fieldOf(header, '__metadata__')
    if (fieldOf(metadata, 'format') !== FORMAT) return undefined
    const step = fieldOf(json(fieldOf(metadata, 'run')), 'step')
    const experiment = json(fieldOf(metadata, 'experiment'))
    const name = fieldOf(experiment, 'name')
    const phases = fieldOf(experiment, 'phases')
    if (typeof step !== 'number' || !Array.isArray(phases)) return undefined
    const planned = phases.reduce((sum: number, phase) => sum + Number(fieldOf(phase, 'steps')), 0)
    const document = json(fieldOf(metadata, 'document'))
    return { name: typeof name === 'string' ? name : '', step, planned, document, bytes: file.size }
  } catch {
    return undefined
  }
}
