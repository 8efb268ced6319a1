import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import { textOf } from '../rows/cells.ts'
import { WrittenNumber } from '../table/table.ts'
import { parseJson } from './json_numbers.ts'
import { readTable } from './readers.ts'

const refuse = (what: string): never => {
  throw new Error(what)
}

const NUMBERS = [
  '9007199254740993',
  '12345678901234567890',
  '-9223372036854775807',
  '1e21',
  '1E+2',
  '142.0',
  '0.1',
  '7',
  '-0',
  '1.10',
  '0',
  '0.30000000000000004',
  '-1.5e-7',
]

test('numbers are written as their file writes them, in every format of text', async () => {
  const jsonl = NUMBERS.map(
    (number) => `{"q":"=\\u0022","a": ${number} ,"o":{"n":[${number}]}}`,
  ).join('\n')
  const csv = `q,a\n${NUMBERS.map((number) => `x,${number}`).join('\n')}`
  for (const [name, text] of [
    ['n.jsonl', jsonl],
    ['n.json', `[${jsonl.replaceAll('\n', ',')}]`],
    ['n.csv', csv],
  ]) {
    const { columns, rows } = await readTable({ name, bytes: new TextEncoder().encode(text) })
    expect(rows.map((row) => textOf(row[columns.indexOf('a')], refuse))).toEqual(NUMBERS)
  }
  const { rows } = await readTable({ name: 'n.jsonl', bytes: new TextEncoder().encode(jsonl) })
  expect(rows[0]).toEqual([
    '="',
    new WrittenNumber('9007199254740993'),
    { n: [new WrittenNumber('9007199254740993')] },
  ])
})

test('whole numbers and decimals of Parquet keep their digits', async () => {
  const bytes = new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'i', data: [9007199254740993n, -9223372036854775807n, 7n] },
        { name: 'u', data: [2n ** 63n, 2n ** 64n - 1n, 1n] },
        { name: 'd', data: [110n, 123456789012345678n, -5n] },
      ],
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'i', type: 'INT64', repetition_type: 'REQUIRED' },
        { name: 'u', type: 'INT64', converted_type: 'UINT_64', repetition_type: 'REQUIRED' },
        {
          name: 'd',
          type: 'INT64',
          repetition_type: 'REQUIRED',
          converted_type: 'DECIMAL',
          scale: 2,
          precision: 18,
        },
      ],
    }),
  )
  const { rows } = await readTable({ name: 'n.parquet', bytes })
  expect(rows.map((row) => row.map((cell) => textOf(cell, refuse)))).toEqual([
    ['9007199254740993', '9223372036854775808', '1.10'],
    ['-9223372036854775807', '18446744073709551615', '1234567890123456.78'],
    ['7', '1', '-0.05'],
  ])
})

test('any JSON has the value that JSON.parse gives, whatever its texts look like', () => {
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, own) => (own instanceof WrittenNumber ? Number(own.text) : own)),
    )
  const odd = fc.constantFrom('=n1', '=t', '=', '\\', '"', '1.10', '\u0000=')
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      odd,
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(odd, fc.string()), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  fc.assert(
    fc.property(json, fc.boolean(), (value, indented) => {
      const text = `[1.10, "\\u003dn1", ${JSON.stringify(value, null, indented ? 1 : 0)}]`
      expect(plain(replaced(parseJson(text)))).toEqual(plain(JSON.parse(text)))
    }),
  )
})

/** toJSON would run before a replacer. */
const replaced = (value: unknown): unknown => {
  if (value instanceof WrittenNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(replaced)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, replaced(own)]))
}

test.for(['', '{', '[1.10', '[1.10.2]', '{"a" 1.10}', '[01]', '["a]', '[1.10 2]', '{1.10:2}'])(
  '%j is no JSON',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  },
)
