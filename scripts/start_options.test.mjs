import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'
import { movedWords, PORT, readOptions } from './start_options.mjs'

test('a port is a number that there is', () => {
  expect(readOptions([])).toEqual({ port: PORT })
  expect(readOptions(['--port', '8080'])).toEqual({ port: 8080 })
  expect(readOptions(['--port=65535'])).toEqual({ port: 65_535 })
  for (const wrong of ['', 'abc', '0', '-1', '80.5', '65536', '1e3', '0x50'])
    expect(readOptions([`--port=${wrong}`]).problem, wrong).toMatch(
      /^--port: expected a whole number from 1 to 65535, got "/,
    )
  expect(readOptions(['--prot', '1']).problem).toMatch(/--prot[\s\S]*Usage: npm start/)
  expect(readOptions(['8080']).problem).toMatch(/8080[\s\S]*Usage: npm start/)
})

test('a port that browsers refuse is refused before the page is built', () => {
  for (const port of [4190, 6000, 10080])
    expect(readOptions([`--port=${port}`]).problem).toMatch(`browsers refuse port ${port}`)
})

test('another port is another storage, and that is said', () => {
  expect(movedWords(4173, 4173)).toBeUndefined()
  const said = movedWords(4173, 4174)
  expect(said).toMatch(/Port 4173 is in use, so the page is at port 4174/)
  expect(said).toMatch(/another site with its own storage/)
  expect(said).toMatch(/npm start -- --port 4174/)
})

test('a bad port ends npm start with a sentence', { timeout: 60_000 }, async () => {
  const { code, said } = await new Promise((resolve) =>
    execFile(process.execPath, ['scripts/start.mjs', '--port', 'abc'], (error, _, stderr) =>
      resolve({ code: error?.code, said: stderr }),
    ),
  )
  expect(code).toBe(2)
  expect(said).toBe(readOptions(['--port', 'abc']).problem.concat('\n'))
})
