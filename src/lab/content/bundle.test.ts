import fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readBundle, writeBundle } from './bundle.ts'
import { ContentError, contentHash } from './content.ts'

const bytes = new Uint8Array(strToU8('prompt,answer\n1,2\n'))
const hash = await contentHash(bytes)
const task = { id: 'dataset', data: hash, name: 'rows.csv', val_data: '', val_name: '' }
const file = { hash, name: 'rows.csv', bytes }

test('a bundle brings the document and its files, the same bytes every time', async () => {
  const written = writeBundle({ task }, [file])
  expect(await readBundle('b.zip', written)).toEqual({ document: { task }, files: [file] })
  expect(writeBundle({ task }, [file])).toEqual(written)
  expect(() => writeBundle({ task }, [])).toThrow(/rows\.csv \(sha256-.*is not here/)
})

const zip = (entries: Record<string, Uint8Array>) => new Uint8Array(zipSync(entries))

test.for<[string, Uint8Array<ArrayBuffer>, RegExp]>([
  ['no zip', new Uint8Array(strToU8('hello')), /b\.zip: expected a bundle/],
  ['another zip', zip({ 'a.txt': bytes }), /found a \.zip without one/],
  ['no JSON', zip({ 'experiment.json': bytes }), /experiment\.json is no JSON/],
  [
    'a large document',
    zip({ 'experiment.json': new Uint8Array(2_000_000) }),
    /more than one may hold/,
  ],
  [
    'another file under the hash',
    zip({ 'experiment.json': strToU8('null'), [`content/${hash}`]: strToU8('x') }),
    /expected sha256-.*, found sha256-/,
  ],
])('%s is refused', async ([, content, message]) => {
  const error = await readBundle('b.zip', content).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ContentError)
  expect((error as Error).message).toMatch(message)
})

test('what else a .zip holds is passed over, and any document is handed on', async () => {
  const other = { '../../x': bytes, 'content/x': bytes, __proto__x: bytes }
  const content = zip({ 'experiment.json': strToU8('[null]'), ...other })
  expect(await readBundle('b.zip', content)).toEqual({ document: [null], files: [] })
})

test('a damaged bundle is a bundle or a ContentError', async () => {
  const whole = writeBundle({ task }, [file])
  const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }))
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const spoilt = whole.slice()
      for (const [at, byte] of changes) spoilt[at] = byte
      try {
        for (const one of (await readBundle('b.zip', spoilt)).files)
          expect(one).toMatchObject({ hash })
      } catch (error) {
        expect(error).toBeInstanceOf(ContentError)
      }
    }),
    { numRuns: 200 },
  )
})
