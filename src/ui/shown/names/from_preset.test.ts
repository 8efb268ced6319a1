import { expect, test } from 'vitest'
import { TINY } from '../../../page/runs/testing.ts'
import { NO_LABELS, type RunHeader } from '../../../record/run/record.ts'
import { VERL_LOG } from '../testing.ts'
import { fromPreset } from './from_preset.ts'

const entryOf = (more: Partial<RunHeader> = {}) => ({
  id: 'a',
  labels: { ...NO_LABELS, id: 'a', color: 0 },
  header: { document: TINY.experiment, preset_id: TINY.id, ...more } as RunHeader,
})

test('a run named on its own is said to be from its preset, unless its name says so', () => {
  expect(fromPreset(entryOf(), 'BuPO (GRPO), layer 2 first')).toBe(`from ${TINY.name}`)
  expect(fromPreset(entryOf(), `GRPO, from “${TINY.name}”`)).toBe('')
  expect(fromPreset(entryOf({ source: VERL_LOG }), 'a log')).toBe('')
})
