// What a study will do is said before it is made: its base, its arms, its runs and its measure.
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { presetOf } from '../../../document/presets/presets.ts'
import { armsOf, DOCUMENT, studyOf } from '../../../document/study/testing.ts'
import { baseWords } from '../../../record/run/base_words.ts'
import { BaseLine } from './BaseLine.tsx'
import { NoPlan, PlanPreview } from './PlanPreview.tsx'

const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

test('the plan has its arms, its runs with their time, and its measure', () => {
  const [study, arms] = [studyOf(DOCUMENT), armsOf(DOCUMENT)]
  const plan = textOf(
    renderToStaticMarkup(<PlanPreview study={study} arms={arms} runs={8} time="about 3 min" />),
  )
  // A name that was given hides what the arm differs in.
  expect(plan).toContain('slow lr 0.0001 30 1, 2, 3, 4 fast lr 0.001 30 1, 2, 3, 4')
  expect(plan).toContain('2 arms × 4 seeds. 8 runs in all, about 3 min on this machine.')
  expect(plan).toContain('fixed beforehand: held-out accuracy (greedy), at the end of the budget')
})

test('a plan that the form no longer describes is marked as past', () => {
  const [study, arms] = [studyOf(DOCUMENT), armsOf(DOCUMENT)]
  const plan = (isPast: boolean) =>
    renderToStaticMarkup(
      <PlanPreview study={study} arms={arms} runs={8} time={undefined} isPast={isPast} />,
    )
  expect(plan(true)).toContain('This was the plan before')
  expect(textOf(plan(true))).toContain('2 arms × 4 seeds.')
  expect(plan(false)).not.toContain('before:')
  expect(renderToStaticMarkup(<NoPlan />)).toContain('The plan')
})

test('the base is the nearest preset, with what differs from it', () => {
  const wordsOf = (base: unknown) =>
    textOf(renderToStaticMarkup(<BaseLine study={studyOf({ ...DOCUMENT, base })} arms={[]} />))
  expect(wordsOf('first-run')).toContain('from “First run with GRPO” as it is.')
  expect(wordsOf(DOCUMENT.base)).toMatch(
    /All arms begin from “.*”\. These are changed: .*16 prompts per step/,
  )
  expect(wordsOf({ phases: [] })).not.toContain('begin')
})

test('a preset that a base hardly resembles is not named', () => {
  const preset = presetOf('first-run')?.experiment
  if (!preset) throw new Error('no such preset')
  const far = {
    ...preset,
    model: { ...preset.model, num_hidden_layers: 9, hidden_size: 48, intermediate_size: 80 },
    rollout: { ...preset.rollout, n: 16, temperature: 0.9, top_p: 0.9, train_batch_size: 8 },
    actor: { ...preset.actor, ppo_epochs: 3, grad_clip: 2, ppo_mini_batch_size: 4 },
    validation: { ...preset.validation, n: 3, prompts: 32 },
  }
  expect(baseWords(far)).toBe('settings of their own')
  expect(baseWords(preset)).toContain('as it is')
})

test('of the base is said what all arms have, and how many steps other phases take', () => {
  const preset = presetOf('first-run')?.experiment
  const inner = preset?.phases.find((phase) => 'target_layer' in phase && phase.kind === 'rl')
  if (!preset || !inner) throw new Error('first-run: expected a phase of reinforcement')
  const short = [{ ...inner, target_layer: 'final', steps: 3 }]
  const base = { ...preset, phases: short }
  const both = [
    { ...inner, target_layer: 1, steps: 1 },
    { ...short[0], steps: 2 },
  ]
  const said = (arms: readonly object[]) => {
    const document = { ...DOCUMENT, base, arms, budget: { same: 'steps' } }
    return textOf(
      renderToStaticMarkup(<BaseLine study={studyOf(document)} arms={armsOf(document)} />),
    )
  }
  const rates = [{ name: 'a' }, { name: 'b', set: { 'actor.optim.lr': 0.1 } }]
  const steps = preset.phases.reduce((sum, one) => sum + one.steps, 0)
  expect(said(rates)).toContain(`3 steps in place of ${steps}`)
  const own = said([{ name: 'a' }, { name: 'b', set: { phases: both } }])
  expect(own).not.toContain('no inner phase')
})

test('an arm of another preset is not said to begin from the base', () => {
  const [base, other] = ['first-steps', 'tiny-grpo'].map((id) => {
    const preset = presetOf(id)?.experiment
    if (!preset) throw new Error(`${id}: no such preset`)
    return preset
  })
  const { model, phases, rollout, actor } = other
  const document = {
    ...DOCUMENT,
    base,
    arms: [{ name: 'BuPO' }, { name: 'GRPO', set: { model, phases, rollout, actor } }],
    budget: { same: 'responses' },
  }
  const plan = textOf(
    renderToStaticMarkup(
      <PlanPreview study={studyOf(document)} arms={armsOf(document)} runs={8} time={undefined} />,
    ),
  )
  expect(plan).toContain(
    '“BuPO” begins from “First run: an inner layer, then all” as it is. “GRPO”',
  )
  expect(plan).toMatch(/“GRPO” begins from “Tiny: GRPO, as many rollouts”/)
  expect(plan).not.toContain('All arms')
  expect(plan).toMatch(/GRPO a new model, no inner phase, lr 0.001 \d+, in place of 166/)
  expect(plan).toContain('as many responses as what the study begins from')
})

test('an algorithm that is not that of the preset is said', () => {
  const preset = presetOf('first-run')?.experiment
  if (!preset) throw new Error('no such preset')
  const phases = preset.phases.map((phase) =>
    phase.kind === 'rl' ? { ...phase, adv_estimator: 'reinforce_plus_plus' as const } : phase,
  )
  const base = { ...preset, phases }
  expect(baseWords(base)).toBe('“First run with GRPO”, by BuPO (REINFORCE++), layer 2 first')
  const slow = { ...base, actor: { ...base.actor, ppo_epochs: 3 } }
  expect(baseWords(slow)).toMatch(
    /by BuPO \(REINFORCE\+\+\), layer 2 first\. These are changed: .*3/,
  )
  // What the arms are compared in is not what all begin with.
  expect(baseWords(base, [base, preset])).toBe(
    '“First run with GRPO”, each with settings of its own',
  )
})

test('one seed is one', () => {
  const document = { ...DOCUMENT, seeds: [1] }
  const plan = renderToStaticMarkup(
    <PlanPreview study={studyOf(document)} arms={armsOf(document)} runs={2} time={undefined} />,
  )
  expect(textOf(plan)).toContain('2 arms × 1 seed.')
})
