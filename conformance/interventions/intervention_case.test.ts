import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Check, runCheck } from '../base/report.ts'
import { addArray, addTo } from '../hf/testing.ts'
import { findSources } from '../sources.ts'
import { attentionChecks, attributionChecks } from './attention_checks.ts'
import {
  type InterventionCase,
  openInterventionCase,
  referenceRunner,
} from './intervention_case.ts'
import { lensChecks } from './lens_checks.ts'
import { readingChecks } from './reading_checks.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url))
let root = ''
let folder = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'understory-interventions-'))
  folder = join(root, 'interventions/qwen3_tiny')
  cpSync(join(FIXTURES, 'hf/qwen3_tiny'), join(root, 'hf/qwen3_tiny'), { recursive: true })
  cpSync(join(FIXTURES, 'interventions/qwen3_tiny'), folder, { recursive: true })
  addTo(folder, {
    'attn.head_write': [70, 1e-3],
    'dla.diff.ffn': [3, 1e-3],
    'tuned.kl': [40, 1e-3],
    'ppo.jac.l3.grad.model.norm.weight': [5, 1e-3],
  })
  addArray(folder, 'attn.surprise')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function problems(checks: (c: InterventionCase) => Iterable<Check> | AsyncIterable<Check>) {
  const c = await openInterventionCase(folder)
  const found: Record<string, string> = {}
  for await (const one of checks(c)) {
    const result = runCheck(one)
    if (result.status === 'FAIL') found[one.case] = result.problem ?? ''
  }
  return { found, unread: c.expected.unread() }
}

test('a folder with a second checkpoint is a case of interventions', () => {
  expect(findSources(join(root, 'interventions'))).toEqual([{ kind: 'interventions', folder }])
})

test('one changed number is found and named, and an array that nothing computes is left over', async () => {
  const attention = await problems(attentionChecks)
  expect(Object.keys(attention.found)).toEqual(['interventions/qwen3_tiny/attn'])
  expect(attention.found['interventions/qwen3_tiny/attn']).toContain('attn.head_write[0,0,2,6]')
  expect(attention.unread).toContain('attn.surprise')
  const attribution = await problems(attributionChecks)
  expect(Object.keys(attribution.found)).toEqual(['interventions/qwen3_tiny/dla.diff'])
  const lenses = await problems((c) => lensChecks(c, referenceRunner(c)))
  expect(lenses.found['interventions/qwen3_tiny/tuned']).toContain('tuned.kl[0,2,4]')
  const readings = await problems(readingChecks)
  expect(Object.keys(readings.found)).toEqual(['interventions/qwen3_tiny/ppo.jac.l3'])
})
