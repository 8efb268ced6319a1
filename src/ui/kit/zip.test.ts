import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { zipOf } from './zip.ts'

/** A file whose maker writes every piece into the same bytes. */
function* reused() {
  const bytes = new Uint8Array(3)
  for (const value of [1, 2]) yield bytes.fill(value)
}

const textFile = (path: string, text: string) => ({
  path,
  pieces: [new TextEncoder().encode(text)],
})

const files = [
  textFile('run.sh', 'echo ü\n'),
  textFile('empty', ''),
  { path: 'deep/er/two', pieces: { [Symbol.iterator]: reused } },
]

test('a zip holds every file below its folder, byte by byte', async () => {
  const bytes = new Uint8Array(await (await zipOf('job', files)).arrayBuffer())
  const found = unzipSync(bytes)
  expect(Object.keys(found)).toEqual(['job/run.sh', 'job/empty', 'job/deep/er/two'])
  expect(new TextDecoder().decode(found['job/run.sh'])).toBe('echo ü\n')
  expect([...found['job/empty']]).toEqual([])
  expect([...found['job/deep/er/two']]).toEqual([1, 1, 1, 2, 2, 2])
})

test('the same files give the same bytes, and scripts may be started', async () => {
  const [one, two] = await Promise.all([zipOf('job', files), zipOf('job', files)])
  const bytes = new Uint8Array(await one.arrayBuffer())
  expect(bytes).toEqual(new Uint8Array(await two.arrayBuffer()))
  // The central directory: signature, and 38 bytes into an entry its attributes.
  const view = new DataView(bytes.buffer)
  const entry = bytes.findIndex(
    (_, i) => i + 4 <= bytes.length && view.getUint32(i, true) === 0x02014b50,
  )
  expect((view.getUint32(entry + 38, true) >>> 16).toString(8)).toBe('100755')
})
