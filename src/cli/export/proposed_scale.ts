// Gives the scale of lab export --model: what is proposed for the size of the model, and what the
// command line says instead.
import { checkJob } from '../../jobs/job_files.ts'
import type { JobOptions, JobSource } from '../../jobs/job_spec.ts'
import { type Proposal, proposals, type Scale, scaleValues } from '../../jobs/scale/scale.ts'
import { UsageError } from '../base/command.ts'
import type { ExportOptions } from './export_options.ts'

/** The scale of a job, and a line for each value with its reason. Throws UsageError for a key that
 * nothing is proposed for. */
export function proposedScale(
  source: JobSource,
  options: JobOptions,
  { cluster, own }: NonNullable<ExportOptions['scale']>,
): { readonly scale: Scale; readonly lines: readonly string[] } {
  const { chosen } = checkJob(source, options)
  if (!chosen) throw new UsageError('--model: a job of preferences trains the model of its folder')
  const proposed = proposals(chosen, source.experiment.model.num_hidden_layers, cluster)
  const keys: readonly string[] = proposed.map(({ key }) => key)
  const unknown = Object.keys(own).find((key) => !keys.includes(key))
  if (unknown !== undefined)
    throw new UsageError(`--set: expected one of ${keys.join(', ')}, got ${unknown}`)
  const scale = { ...cluster, values: scaleValues(proposed, own) }
  return { scale, lines: proposed.map((proposal) => lineOf(proposal, own[proposal.key])) }
}

const lineOf = ({ key, value, why }: Proposal, given: number | undefined): string =>
  given === undefined
    ? `${key}=${value}: ${why}`
    : `${key}=${given}: given with --set; ${value} was proposed. ${why}`
