// Puts a study back into the page's form, to be changed there.
import type { Experiment } from '../../experiment/schema/schema.ts'
import { expandStudy } from '../arms.ts'
import type { NamedExperiment } from '../build.ts'
import { axisText } from '../grid.ts'
import type { Study } from '../study.ts'
import { type Draft, type DraftAxis, EMPTY_DRAFT } from './draft.ts'
import { baseOf } from './over_study.ts'

/** A study as the form has it. */
export interface Redraft {
  readonly draft: Draft
  /** What all arms begin from. */
  readonly base: Experiment
  /** Without the points of the grid. */
  readonly arms: readonly NamedExperiment[]
}

/** The grid as a person writes it; undefined where a value is no number and no word. */
function axesOf({ grid }: Study): readonly DraftAxis[] | undefined {
  const axes = Object.entries(grid).map(([path, axis]) => ({ path, values: axisText(axis) }))
  const isWritten = (axis: (typeof axes)[number]): axis is DraftAxis => axis.values !== undefined
  return axes.every(isWritten) ? axes : undefined
}

/** Undefined where the form cannot hold the study: a search in which each arm has a grid of its
 * own, or one over whole lists of phases. */
export function redraft(study: Study): Redraft | undefined {
  const base = baseOf(study)
  const axes = study.arms.every(({ grid }) => grid === undefined) ? axesOf(study) : undefined
  if (!base || (!axes && study.search)) return undefined
  const { search: _, ...rest } = study
  const arms = axes ? study.arms.map(({ name, set }) => ({ name, set })) : study.arms
  // With a budget in steps no arm is made longer or shorter.
  const plain = { ...rest, arms, budget: { same: 'steps' as const }, baseline: null }
  const expanded = expandStudy(axes ? { ...plain, grid: {} } : plain)
  if (!expanded.ok) return undefined
  const isOfArms = study.arms.length > 0 || !axes
  const { search, measure, seeds, question, budget } = study
  return {
    base,
    arms: isOfArms ? expanded.arms : [],
    draft: {
      ...EMPTY_DRAFT,
      question,
      way: isOfArms ? 'arms' : 'values',
      axes: axes && axes.length > 0 ? axes : EMPTY_DRAFT.axes,
      seeds: seeds.length,
      same: budget.same,
      metric: measure.metric,
      at: measure.at,
      ...(search && {
        kind: search.kind,
        settings: search.arms,
        finalists: search.finalists,
        choosing: search.choosing ?? Math.ceil(seeds.length / 2),
      }),
    },
  }
}
