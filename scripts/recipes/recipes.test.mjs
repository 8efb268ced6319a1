// The recipes of CONTRIBUTING.md, followed to the letter in a copy of the tree, which is then
// type-checked, run and tested.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregation } from './aggregation.mjs'
import { estimator } from './estimator.mjs'
import { metric } from './metric.mjs'
import { panel } from './panel.mjs'
import { phaseSetting } from './phase_setting.mjs'
import { policyLoss } from './policy_loss.mjs'
import { reward } from './reward.mjs'
import { setting } from './setting.mjs'
import { switchSetting } from './switch_setting.mjs'
import { task } from './task.mjs'
import { treeWith } from './tree.mjs'

/** The recipes. All are applied to one copy, so that one run of the compiler sees them. */
const RECIPES = [
  policyLoss,
  aggregation,
  estimator,
  task,
  reward,
  panel,
  setting,
  switchSetting,
  phaseSetting,
  metric,
]

let tree
beforeAll(async () => {
  tree = await treeWith(RECIPES)
}, 120_000)
afterAll(() => tree?.destroy(), 60_000)

test('every recipe finds the text that it follows', () => {
  expect(tree).toBeDefined()
})

test.skipIf(!process.env.LONG_TESTS)(
  'the compiler has no objection',
  async () => {
    expect(await tree.compilerErrors()).toBe('')
  },
  120_000,
)

// They load most of the tree, which takes half a minute.
describe.skipIf(!process.env.LONG_TESTS).for(RECIPES)('$name', ({ checks }) => {
  test.for(Object.entries(checks))('%s', ([, check]) => check(tree.load), 60_000)
})

// The checks above say that each recipe's addition is met with; this, that nothing else minds it.
test.skipIf(!process.env.LONG_TESTS)(
  'the unit tests of the copy pass',
  async () => {
    expect(await tree.unitTests()).toBe('')
  },
  1_800_000,
)
