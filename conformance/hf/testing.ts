// Makes, for tests, copies of a golden model case with something changed in them.
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OpenSafetensors, openSafetensors } from '../../src/formats/safetensors_header.ts'

const FIXTURE = fileURLToPath(new URL('../../conformance/fixtures/hf/qwen2_tiny', import.meta.url))

/** A new folder with the smallest case of the fixtures that has everything; the caller removes
 * it. */
export function copyOfCase(): string {
  const folder = mkdtempSync(join(tmpdir(), 'understory-hf-'))
  cpSync(FIXTURE, folder, { recursive: true })
  return folder
}

const EXPECTED = 'expected.safetensors'

/** Rewrites a file of a folder. */
export function changeBytes(
  folder: string,
  name: string,
  change: (bytes: Uint8Array) => Uint8Array,
) {
  const file = join(folder, name)
  writeFileSync(file, change(new Uint8Array(readFileSync(file))))
}

/** Adds to one number of arrays in expected.safetensors; by name, `[index, amount]`. */
export function addTo(
  folder: string,
  changes: Readonly<Record<string, readonly [number, number]>>,
) {
  changeBytes(folder, EXPECTED, (bytes) => {
    const opened = openSafetensors(bytes, EXPECTED)
    for (const [name, [index, amount]] of Object.entries(changes))
      addToNumber(opened, name, index, amount)
    return bytes
  })
}

function addToNumber({ bytes, entries }: OpenSafetensors, name: string, i: number, by: number) {
  const entry = entries.get(name)
  if (!entry || i >= entry.size) throw new RangeError(`${EXPECTED}: there is no ${name}[${i}]`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const at = entry.begin + 4 * i
  if (entry.dtype === 'I32') view.setInt32(at, view.getInt32(at, true) + by, true)
  else if (entry.dtype === 'F32') view.setFloat32(at, view.getFloat32(at, true) + by, true)
  else throw new RangeError(`${EXPECTED}: ${name} is ${entry.dtype}`)
}

/** Appends an array of one number to expected.safetensors. */
export function addArray(folder: string, name: string) {
  changeBytes(folder, EXPECTED, (bytes) => {
    const start = 8 + new DataView(bytes.buffer).getUint32(0, true)
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)))
    const end = bytes.length - start
    header[name] = { dtype: 'F32', shape: [1], data_offsets: [end, end + 4] }
    const text = new TextEncoder().encode(JSON.stringify(header))
    // Data begins at a multiple of 8.
    const length = Math.ceil(text.length / 8) * 8
    const file = new Uint8Array(8 + length + end + 4).fill(0x20, 8, 8 + length)
    new DataView(file.buffer).setUint32(0, length, true)
    file.set(text, 8)
    file.set(bytes.subarray(start), 8 + length)
    return file
  })
}
