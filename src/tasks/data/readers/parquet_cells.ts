// Turns values of Parquet into cells, with all their digits: hyparquet makes numbers of decimals,
// and a number of JavaScript does not hold them.
import type { FileMetaData, SchemaTree } from 'hyparquet'
import { type Cell, WrittenNumber } from '../table/table.ts'

/** Levels of lists and structures inside a cell. */
const MOST_DEPTH = 16

type SchemaElement = FileMetaData['schema'][number]

const scaleOf = ({ converted_type, logical_type, scale = 0 }: SchemaElement) => {
  if (logical_type?.type === 'DECIMAL') return logical_type.scale
  return converted_type === 'DECIMAL' ? scale : undefined
}

/** The metadata with decimals as what they are stored as: whole numbers or bytes. Bytes without a
 * length would be read as text, but for a geometry, which `bytesAsTheyAre` leaves alone. */
export const withRawDecimals = (metadata: FileMetaData): FileMetaData => ({
  ...metadata,
  schema: metadata.schema.map((element): SchemaElement => {
    if (scaleOf(element) === undefined) return element
    const { converted_type: _, logical_type: __, ...raw } = element
    return element.type === 'BYTE_ARRAY' ? { ...raw, logical_type: { type: 'GEOMETRY' } } : raw
  }),
})

export const bytesAsTheyAre = {
  geometryFromBytes: (bytes: Uint8Array | undefined) => bytes,
  geographyFromBytes: (bytes: Uint8Array | undefined) => bytes,
}

/** A whole number and how many of its digits stand behind the point, as text: (110, 2) is 1.10. */
function decimalText(unscaled: bigint, scale: number): string {
  const digits = `${unscaled < 0n ? -unscaled : unscaled}`.padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const text = scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`
  return unscaled < 0n ? `-${text}` : text
}

/** Bytes as a whole number with a sign, the highest first. */
const wholeOf = (bytes: Uint8Array): bigint =>
  BigInt.asIntN(
    8 * bytes.length,
    bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n),
  )

/** A number as it is written, where JavaScript writes it so too; else with its digits. */
const numberOf = (text: string): Cell =>
  `${Number(text)}` === text ? Number(text) : new WrittenNumber(text)

const isUnsigned64 = ({ converted_type, logical_type }: SchemaElement) =>
  converted_type === 'UINT_64' ||
  (logical_type?.type === 'INTEGER' && logical_type.bitWidth === 64 && !logical_type.isSigned)

/** The schema of what lies inside a value: of a list's items, or of a field; undefined where it is
 * not known. */
const innerOf = (node: SchemaTree | undefined, name?: string): SchemaTree | undefined => {
  if (name !== undefined) return node?.children.find(({ element }) => element.name === name)
  const [repeated] = node?.children ?? []
  return repeated?.children.length === 1 ? repeated.children[0] : repeated
}

/** Numbers keep their digits; dates become ISO 8601; bytes are refused. `node`: the schema of the
 * file as it is, which says what is a decimal. */
export function plainCell(
  value: unknown,
  node: SchemaTree | undefined,
  refuse: (what: string) => never,
  depth = 0,
): Cell {
  if (depth > MOST_DEPTH) return refuse(`expected at most ${MOST_DEPTH} levels`)
  if (value === undefined || value === null) return null
  const scale = node && scaleOf(node.element)
  if (scale !== undefined && value instanceof Uint8Array)
    return numberOf(decimalText(wholeOf(value), scale))
  if (scale !== undefined && (typeof value === 'bigint' || Number.isSafeInteger(value)))
    return numberOf(decimalText(BigInt(value as bigint | number), scale))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  if (typeof value === 'bigint')
    return numberOf(`${node && isUnsigned64(node.element) ? BigInt.asUintN(64, value) : value}`)
  if (value instanceof WrittenNumber) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return refuse('expected text or numbers, found bytes')
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const item = innerOf(node)
    return Array.from(value as ArrayLike<unknown>, (one) => plainCell(one, item, refuse, depth + 1))
  }
  if (typeof value !== 'object') return refuse(`expected text or numbers, found a ${typeof value}`)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      plainCell(one, innerOf(node, name), refuse, depth + 1),
    ]),
  )
}
