// The committed case of PEFT training in float64, and with a mistake in what it is compared with.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { resultsOf } from '../results.ts'
import { findSources } from '../sources.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/peft_train', import.meta.url))
const CASE = 'llama_r1_qv_layer1'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'understory-peft-'))
  cpSync(FIXTURES, folder, { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Status by case. */
async function statuses() {
  const found: Record<string, string> = {}
  for await (const result of resultsOf(findSources(folder), { gpu: undefined }))
    found[result.case.replace(`peft_train/${CASE}/`, '')] = result.status
  return found
}

function change(file: string, edit: (json: Record<string, never>) => void) {
  const path = join(folder, CASE, file)
  const json = JSON.parse(readFileSync(path, 'utf8'))
  edit(json)
  writeFileSync(path, JSON.stringify(json))
}

const ALL_WELL = { settings: 'ok', merged: 'ok', start: 'ok', sft: 'ok', grpo: 'ok' }

test('an adapter is trained as PEFT trains it', async () => {
  expect(await statuses()).toEqual(ALL_WELL)
})

test('another scale of the adapter is found', async () => {
  change('adapter_init/adapter_config.json', (json) => Object.assign(json, { lora_alpha: 5 }))
  // With B = 0 the scale does not show at the start.
  expect(await statuses()).toEqual({ ...ALL_WELL, settings: 'FAIL', sft: 'FAIL', grpo: 'FAIL' })
})

test('another learning rate is found', async () => {
  change('expected.json', ({ optimizer }) => Object.assign(optimizer, { lr: 0.031 }))
  expect(await statuses()).toEqual({ ...ALL_WELL, sft: 'FAIL', grpo: 'FAIL' })
})
