// Tests which command lines `probe` refuses before it opens a GPU.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LabFailure } from './base/command.ts'
import { probe } from './probe.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-probe-'))
afterAll(() => rmSync(root, { recursive: true }))

test.each([
  [[0, 0, 0xc0, 0x7f], 'NaN'],
  [[0, 0, 0x80, 0xff], '-Infinity'],
])('weights that are not finite are refused by the name of their tensor', async (bytes, shown) => {
  const folder = mkdtempSync(join(root, 'model-'))
  cpSync('conformance/fixtures/hf/qwen3_tiny', folder, { recursive: true })
  const file = join(folder, 'model.safetensors')
  const content = readFileSync(file)
  const length = Number(content.readBigUInt64LE())
  const header = JSON.parse(content.subarray(8, 8 + length).toString())
  const name = 'model.layers.0.mlp.up_proj.weight'
  const { dtype, data_offsets } = header[name]
  expect(dtype).toBe('F32')
  Buffer.from(bytes).copy(content, 8 + length + data_offsets[0] + 4 * 5)
  writeFileSync(file, content)
  writeFileSync(join(folder, 'ids.json'), '[1]')
  const probing = probe.run([folder, '--tokens', join(folder, 'ids.json')])
  await expect(probing).rejects.toThrow(LabFailure)
  await expect(probing).rejects.toThrow(
    `tensor ${name}, element 5: expected a finite number, found ${shown}`,
  )
})
