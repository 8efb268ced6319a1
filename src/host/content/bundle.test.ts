import fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { ContentError, contentHash } from '../../document/content/content.ts'
import { readBundle, writeBundle } from './bundle.ts'

const bytes = new Uint8Array(strToU8('prompt,answer\n1,2\n'))
const hash = await contentHash(bytes)
const task = { id: 'dataset', data: hash, name: 'rows.csv', val_data: null, val_name: null }
const file = { hash, name: 'rows.csv', bytes }

test('a bundle brings the document and its files, the same bytes every time', async () => {
  const written = writeBundle({ task }, [file])
  expect(await readBundle('b.zip', written)).toEqual({ document: { task }, files: [file] })
  expect(writeBundle({ task }, [file])).toEqual(written)
  expect(() => writeBundle({ task }, [])).toThrow(/rows\.csv \(sha256-.*is not here/)
})

const none = { source: null, source_name: null }
const beside = { source: hash, source_name: 'v.safetensors' }

test.for([
  ['vectors', { steering_vectors: beside }],
  ['a tuned lens', { lenses: { tuned: beside, jacobian: none } }],
  ['a Jacobian lens', { lenses: { tuned: none, jacobian: beside } }],
] as const)('a bundle carries %s that a run begins with', async ([, model]) => {
  const own = { hash, name: 'v.safetensors', bytes }
  const document = { task: { id: 'sort_digits' }, model: { ...none, lora: none, ...model } }
  const { files } = await readBundle('b.zip', writeBundle(document, [own]))
  expect(files).toEqual([own])
  expect(() => writeBundle(document, [])).toThrow(/v\.safetensors \(sha256-.*is not here/)
})

const zip = (entries: Record<string, Uint8Array>) => new Uint8Array(zipSync(entries))

test.for<[string, Uint8Array<ArrayBuffer>, RegExp]>([
  ['no zip', new Uint8Array(strToU8('hello')), /b\.zip: expected a bundle/],
  ['another zip', zip({ 'a.txt': bytes }), /found a \.zip without one/],
  [
    'a folder that the page has packed',
    zip({ 'run/metrics.csv': bytes, 'run/metrics.ipynb': bytes, 'run/experiment.json': bytes }),
    /^b\.zip is a folder of files, and no bundle\. .*: metrics\.csv, experiment\.json\.$/,
  ],
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

/** A .zip whose entry says `said` bytes, in its own header and in the directory at the end. */
function forged(entries: Record<string, Uint8Array>, name: string, said: number) {
  const bytes = zip(entries)
  const view = new DataView(bytes.buffer)
  const text = new TextDecoder('latin1').decode(bytes)
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const local = view.getUint32(at - 30, true) === 0x04034b50
    view.setUint32(local ? at - 30 + 22 : at - 46 + 24, said, true)
  }
  return bytes
}

test('an entry is unpacked no further than the bytes that it says it has', async () => {
  const document = strToU8('null')
  const large = { 'experiment.json': document, [`content/${hash}`]: new Uint8Array(64e6) }
  await expect(readBundle('b.zip', forged(large, `content/${hash}`, 100))).rejects.toThrow(
    `b.zip: expected a bundle (content/${hash} says 100 bytes and holds more)`,
  )
  const long = { 'experiment.json': new Uint8Array(64e6) }
  await expect(readBundle('b.zip', forged(long, 'experiment.json', 4))).rejects.toThrow(
    'experiment.json says 4 bytes and holds more',
  )
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
