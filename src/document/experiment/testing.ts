// Makes experiments of tests: documents that must parse, and what is wrong with those that must
// not.
import { type Parsed, parseExperiment, withField } from './experiment.ts'
import type { Experiment } from './schema/schema.ts'

/** The experiment of a document that must be sound. */
export function parsed(document: unknown): Experiment {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}

/** Everything that is wrong with a document. */
export function issuesOf(document: unknown): Extract<Parsed, { ok: false }>['issues'] {
  const result = parseExperiment(document)
  return result.ok ? [] : result.issues
}

/** The same as text: 'path: message'. */
export const issues = (document: unknown): string[] =>
  issuesOf(document).map(({ path, message }) => `${path}: ${message}`)

/** An experiment after an edit that must be possible. */
export function edited(experiment: Experiment, path: string, value: unknown): Experiment {
  const result = withField(experiment, path, value)
  if (!result.ok) throw new Error(result.message)
  return result.experiment
}

/** A document of one phase of reinforcement. */
export const rl = (fields: object, rest: object = {}) => ({
  ...rest,
  phases: [{ kind: 'rl', ...fields }],
})

/** A document, or a phase, with dynamic sampling. */
export const filter = (fields: object) => ({
  algorithm: { filter_groups: { enable: true, ...fields } },
})
