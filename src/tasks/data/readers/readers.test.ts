import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { DataFileError, MOST_COLUMNS } from '../table/data_file.ts'
import { WrittenNumber } from '../table/table.ts'
import { isDataFile, readTable } from './readers.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const read = (name: string, content: string | Uint8Array<ArrayBuffer>) =>
  readTable({ name, bytes: typeof content === 'string' ? utf8(content) : content })
const both = async (name: string, content: string | Uint8Array<ArrayBuffer>) => {
  const { columns, rows } = await read(name, content)
  return { columns, rows }
}

/** Named values as columns of a Parquet file. */
const parquetOf = (columnData: Parameters<typeof parquetWriteBuffer>[0]['columnData']) =>
  new Uint8Array(parquetWriteBuffer({ columnData }))

const TWO = {
  columns: ['a', 'b'],
  rows: [
    ['1', 'x'],
    ['2', 'y'],
  ],
}

describe('formats', () => {
  test.for<[string, string]>([
    ['t.jsonl', '{"a":"1","b":"x"}\n\n{"b":"y","a":"2"}\r\n'],
    ['t.json', '[{"a":"1","b":"x"},{"a":"2","b":"y"}]'],
    ['t.json', '{"rows":[{"a":"1","b":"x"},{"a":"2","b":"y"}]}'],
    ['t.json', '{"n":2,"data":[{"a":"1","b":"x"},{"a":"2","b":"y"}]}'],
    [
      't.json',
      '{"rows":[{"row_idx":0,"row":{"a":"1","b":"x"}},{"row_idx":1,"row":{"a":"2","b":"y"}}]}',
    ],
    ['t.csv', 'a,b\n1,x\n2,y'],
    ['t.csv', 'a;b\r\n1;x\r\n2;y\r\n'],
    ['t.tsv', 'a\tb\n1\tx\n2\ty\n\n'],
    ['t.csv', '\ufeff"a","b"\n"1",x\n2,"y"\n'],
    // By its content, whatever the name says.
    ['t.json', '{"a":"1","b":"x"}\n{"a":"2","b":"y"}'],
    ['t.jsonl', '[{"a":"1","b":"x"},{"a":"2","b":"y"}]'],
    ['t.data', '{"a":"1","b":"x"}\n{"a":"2","b":"y"}'],
  ])('%s: %j', async ([name, content]) => {
    expect(await both(name, content)).toEqual(TWO)
  })

  test('Parquet, also under another name; its types become plain ones', async () => {
    const bytes = parquetOf([
      { name: 'n', data: [1n, 2n ** 60n], type: 'INT64' },
      { name: 'when', data: [new Date(0), new Date(1e12)], type: 'TIMESTAMP' },
      { name: 'x', data: [0.5, Number.NaN], type: 'DOUBLE' },
      { name: 'list', data: [[{ role: 'user' }], []], type: 'JSON' },
      { name: '__proto__', data: ['p', 'q'], type: 'STRING' },
    ])
    for (const name of ['t.parquet', 't.jsonl', 't'])
      expect(await both(name, bytes)).toEqual({
        columns: ['n', 'when', 'x', 'list', '__proto__'],
        rows: [
          [1, '1970-01-01T00:00:00.000Z', 0.5, [{ role: 'user' }], 'p'],
          [
            new WrittenNumber('1152921504606846976'),
            '2001-09-09T01:46:40.000Z',
            Number.NaN,
            [],
            'q',
          ],
        ],
      })
  })

  test('quotes hold separators, quotes and ends of lines', async () => {
    const { rows, placeOf } = await read('t.csv', 'a,b\n"x,1","say ""hi""\nthere"\n,last\n')
    expect(rows).toEqual([
      ['x,1', 'say "hi"\nthere'],
      ['', 'last'],
    ])
    expect([placeOf(0), placeOf(1)]).toEqual(['line 2', 'line 4'])
  })

  test('whatever is written by RFC 4180 is read back', async () => {
    const field = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ';', ' ', 'é') })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { minLength: 1 }), async (rows) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
        const lines = rows.map((row) => row.map(quote).join(','))
        expect((await read('t.csv', ['"p","q"', ...lines].join('\r\n'))).rows).toEqual(rows)
      }),
    )
  })

  test('a first line without letters is a row', async () => {
    const { columns, rows, notes } = await read('t.csv', '1+2=,3\n4+5=,9\n')
    expect([columns, rows.length, notes.length]).toEqual([['column_1', 'column_2'], 2, 1])
  })

  test('plain text is a column of lines, empty ones too', async () => {
    expect(await both('t.txt', 'one\r\n\r\ntwo\n')).toEqual({
      columns: ['text'],
      rows: [['one'], [''], ['two']],
    })
  })

  test('absent values stay absent, and columns are those of all rows', async () => {
    expect(await both('t.jsonl', '{"a":1}\n{"b":null,"c":[1]}')).toEqual({
      columns: ['a', 'b', 'c'],
      rows: [
        [1, undefined, undefined],
        [undefined, null, [1]],
      ],
    })
  })

  test('names of prototypes are columns like others', async () => {
    const text = '{"__proto__":"p","constructor":"c","toString":"t"}'
    expect(await both('t.jsonl', text)).toEqual({
      columns: ['__proto__', 'constructor', 'toString'],
      rows: [['p', 'c', 't']],
    })
    expect(await both('t.csv', '__proto__,constructor\np,c')).toEqual({
      columns: ['__proto__', 'constructor'],
      rows: [['p', 'c']],
    })
  })

  test('UTF-16 with its mark is decoded', async () => {
    const bytes = new Uint8Array([
      0xff,
      0xfe,
      ...[...'é,b\nx,y'].flatMap((c) => [c.charCodeAt(0), 0]),
    ])
    expect((await read('t.csv', bytes)).columns).toEqual(['é', 'b'])
  })

  test('files are known by their names, in any case', () => {
    expect(['a.JSONL', 'b.c.parquet', 'd.txt'].every(isDataFile)).toBe(true)
    expect(['a.safetensors', 'jsonl.zip', ''].some(isDataFile)).toBe(false)
  })
})

const bytes = (...values: number[]) => new Uint8Array([...values, ...Array<number>(40).fill(7)])
const many = Array.from({ length: MOST_COLUMNS + 1 }, (_, i) => `c${i}`)

test.for<[string, string | Uint8Array<ArrayBuffer>, RegExp]>([
  ['t.jsonl', '', /t\.jsonl: expected rows, found an empty file/],
  ['t.jsonl', ' \n ', /found nothing but spaces/],
  ['t.csv', 'a,b\n', /one row or more, found none/],
  ['t.jsonl', bytes(0x50, 0x4b, 3, 4), /found a zip archive/],
  ['t.csv', bytes(0x1f, 0x8b), /compressed with gzip; unpack it/],
  ['t.jsonl', utf8('%PDF-1.7'), /found a PDF/],
  ...['t.jsonl', 't.parquet', 't.json', 't.csv', 't.txt'].map((name): [string, string, RegExp] => [
    name,
    'version https://git-lfs.github.com/spec/v1\noid sha256:4f1e\nsize 99\n',
    /expected a data file, found a Git LFS pointer in place of the file of 99 bytes; run `git lfs/,
  ]),
  ['t.parquet', '../../blobs/4f1e3a7c', /found a path as text .*hf download/],
  ['t.jsonl', '<!DOCTYPE html><html>', /found a web page/],
  ['t.csv', '\n <html lang="en">', /found a web page/],
  ['t.jsonl', bytes(0x7b, 0x7d, 0), /line 1: expected text, found binary data/],
  ['t.csv', new Uint8Array([0x61, 0x0a, 0x62, 0xff, 0x63]), /line 2: expected UTF-8 text/],
  ['t.csv', bytes(0x61, 0xff, 3, 0x92), /t.csv: expected text, found binary data; choose another/],
  ['t.csv', new Uint8Array([0xff, 0xfe, 0x61]), /begins as UTF-16 text and breaks off/],
  ['t.csv', new Uint8Array([0x61, 0, 0x2c, 0, 0x62, 0]), /UTF-16 without its mark/],
  ['t.parquet', 'a,b', /expected a Parquet file, found text/],
  ['t.parquet', utf8('PAR1 and nothing more, PAR1'), /expected a Parquet file that can be read/],
  ['t.jsonl', '{"a":1}\n{', /line 2: expected one JSON object, found text that is no JSON/],
  ['t.jsonl', '{"a":1}\n[1]', /line 2: expected one JSON object, found another value/],
  ['t.jsonl', '{"a":NaN}', /line 1: .*found NaN, which JSON does not have/],
  ['t.json', '{"a":1}', /expected a list of objects/],
  ['t.json', '[{}, 3]', /row 2: expected an object/],
  ['t.json', '[{]', /expected JSON/],
  ['t.csv', 'a,b\n1,2\n3,4,5', /line 3: expected 2 fields as in the first line, found 3/],
  ['t.csv', 'a,b\n1', /line 2: expected 2 fields as in the first line, found 1/],
  ['t.csv', 'a,b\n1,"2', /line 2: a quote is opened here and never closed/],
  ['t.csv', 'a,b\n"1"x,2', /line 2, column 1: expected the end of the field/],
  ['t.csv', 'a,a\n1,2', /line 1, column 2: .*found 'a' twice/],
  ['t.csv', many.join(), /at most 256 columns, found 257/],
  ['t.jsonl', JSON.stringify(Object.fromEntries(many.map((c) => [c, 1]))), /256 columns/],
] as const)('%s %j is refused: %s', async ([name, content, message]) => {
  const error = await read(name, content).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(DataFileError)
  expect((error as Error).message).toMatch(message)
})

describe('whatever comes', () => {
  const names = fc.constantFrom('t.jsonl', 't.json', 't.csv', 't.tsv', 't.txt', 't.parquet', 't')
  const settles = async (name: string, content: Uint8Array<ArrayBuffer>) => {
    try {
      const { columns, rows } = await readTable({ name, bytes: content })
      expect(rows.every((row) => row.length === columns.length)).toBe(true)
    } catch (error) {
      expect(error).toBeInstanceOf(DataFileError)
    }
  }

  test('bytes become rows or a DataFileError', async () => {
    await fc.assert(
      fc.asyncProperty(names, fc.uint8Array({ maxLength: 200 }), (name, content) =>
        settles(name, new Uint8Array(content)),
      ),
      { numRuns: 500 },
    )
  })

  test('texts become rows or a DataFileError', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      fc.array(fc.json()).map((lines) => lines.join('\n')),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '\t', ';') }),
    )
    await fc.assert(
      fc.asyncProperty(names, text, (name, content) => settles(name, utf8(content))),
      { numRuns: 1000 },
    )
  })

  test('damaged Parquet becomes rows or a DataFileError', async () => {
    const whole = parquetOf([
      { name: 'prompt', data: Array.from({ length: 50 }, (_, i) => `${i}=`), type: 'STRING' },
      { name: 'n', data: Array.from({ length: 50 }, (_, i) => i), type: 'INT32' },
    ])
    const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const spoilt = whole.slice()
        for (const [at, byte] of changes) spoilt[at] = byte
        await settles('t.parquet', spoilt)
      }),
      { numRuns: 500 },
    )
    for (let length = 0; length < whole.length; length += 37)
      await settles('t.parquet', whole.slice(0, length))
  })
})
