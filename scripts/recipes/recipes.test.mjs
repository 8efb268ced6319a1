// "One file, one line" for every recipe of CONTRIBUTING.md that says so: applied to a copy of the
// tree, type-checked and run.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregation } from './aggregation.mjs'
import { estimator } from './estimator.mjs'
import { panel } from './panel.mjs'
import { policyLoss } from './policy_loss.mjs'
import { reward } from './reward.mjs'
import { task } from './task.mjs'
import { treeWith } from './tree.mjs'

/** The recipes. All are applied to one copy, so that one run of the compiler sees them. */
const RECIPES = [policyLoss, aggregation, estimator, task, reward, panel]

let tree
beforeAll(async () => {
  tree = await treeWith(RECIPES)
}, 120_000)
afterAll(() => tree?.destroy())

describe.for(RECIPES)('$name', ({ checks }) => {
  test.for(Object.entries(checks))('%s', ([, check]) => check(tree.load), 60_000)
})

test('the compiler has no objection', async () => {
  expect(await tree.compilerErrors()).toBe('')
}, 120_000)
