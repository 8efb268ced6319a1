// Writes the files of a study: its report, its tables and its pictures.

import {
  type Cell,
  csvTable,
  markdownTable,
  markdownText,
  type Say,
} from '../../../formats/text_tables.ts'
import type { Experiment } from '../../experiment/schema/schema.ts'
import { encodeLink } from '../../links/link.ts'
import type { Analysis, ArmResult } from '../analysis.ts'
import { exploratoryWords } from '../changes.ts'
import { measuresOf, type Study } from '../study.ts'
import { encodeStudy } from '../study_link.ts'
import { answerSentence } from './answer.ts'
import { besideTable, entropyTable } from './beside.ts'
import { insideTables } from './inside.ts'
import { studyPictures } from './pictures.ts'
import { short } from './svg.ts'
import { budgetUnit, inHead, spentText, unitsOf } from './units.ts'
import {
  armSentence,
  bareDifference,
  measureSentence,
  planSentence,
  powerSentence,
  signed,
  titleParts,
} from './words.ts'

/** What the report says besides. */
interface Told {
  /** A sentence on what its arms begin from. */
  readonly begins?: string
  /** Of the page, which its links lead to. */
  readonly address?: string
  readonly say?: Say
}

/** Everything that a study leaves beside its runs, by the names of the files. `study` is what is
 * compared; `whole`, what the report links: of a search the study with the seeds that choose. */
export function studyFiles(
  study: Study,
  analysis: Analysis,
  changes: readonly string[] = [],
  whole: Study = study,
  told: Told = {},
): Map<string, string> {
  const pictures = studyPictures(study, analysis, told.say)
  return new Map([
    ['report.md', reportOf({ study, whole, ...told }, analysis, changes, [...pictures.keys()])],
    ...measureTables(analysis),
    ...pictures,
  ])
}

/** Tables of each primary measure: `table.csv` and `runs.csv` of the first, `table_2.csv` and so on
 * of the others. */
const measureTables = ({ also = [], ...first }: Analysis): [string, string][] =>
  [first, ...also].flatMap((analysis, i): [string, string][] => {
    const which = i === 0 ? '' : `_${i + 1}`
    return [
      [`table${which}.csv`, tableOf(analysis)],
      [`runs${which}.csv`, runsTable(analysis)],
    ]
  })

/** What could not be computed leaves its cell empty. */
const known = (cell: Cell): Cell => (Number.isNaN(cell) ? undefined : cell)

/** One row per arm. */
const tableOf = ({ arms }: Analysis): string =>
  csvTable([
    [
      'arm',
      'seeds',
      'mean',
      'deviation',
      'interquartile_mean',
      'low',
      'high',
      'spent',
      'difference',
      'difference_low',
      'difference_high',
      'bootstrap_low',
      'bootstrap_high',
      'p_t',
      'p_permutation',
      'p_sign',
      'p_holm',
      'p_equal',
      'verdict',
      'seeds_needed',
      'probability_of_improvement',
      'collapsed',
    ],
    ...arms.map(({ arm, values, mean, deviation, interquartile_mean, t, spent, comparison: c }) =>
      [
        arm.name,
        values.length,
        mean,
        deviation,
        interquartile_mean,
        t?.low,
        t?.high,
        spent,
        c?.mean,
        c?.t?.low,
        c?.t?.high,
        c?.bootstrap?.low,
        c?.bootstrap?.high,
        c?.p_t,
        c?.p_permutation,
        c?.p_sign,
        c?.p_holm,
        c?.equality?.p,
        c?.verdict,
        c?.seeds_needed,
        c?.probability_of_improvement,
        values.filter(({ hasCollapsed }) => hasCollapsed).length,
      ].map(known),
    ),
  ])

/** One row per run. */
const runsTable = ({ arms }: Analysis): string =>
  csvTable([
    ['arm', 'seed', 'value', 'collapsed'],
    ...arms.flatMap(({ arm, values }) =>
      values.map(({ seed, value, hasCollapsed }) => [
        arm.name,
        seed,
        known(value),
        hasCollapsed ? 1 : 0,
      ]),
    ),
  ])

/** The arms of a report. */
function armsTable({ arms, metric }: Analysis, { budget }: Study, say: Say): string {
  const units = unitsOf(metric)
  const row = (one: ArmResult): string[] => {
    const { arm, values, mean, began, deviation, interquartile_mean, spent, comparison } = one
    const gain = mean - began
    return [
      markdownText(say(arm.name)),
      `${values.length}`,
      `${units.bareValue(mean)} ± ${units.bareDifference(deviation)}`,
      units.bareValue(interquartile_mean),
      spentText(spent),
      Number.isFinite(gain) ? signed(gain, units) : '',
      comparison && comparison.pairs.length > 0 ? bareDifference(comparison, units) : '',
      comparison ? short(comparison.p_holm ?? Number.NaN) : '',
      say(comparison?.verdict === 'none' ? 'no difference found' : (comparison?.verdict ?? '')),
    ]
  }
  const heads = [
    'arm',
    'seeds',
    `mean ± sd${inHead(units.value)}`,
    `IQM${inHead(units.value)}`,
    `spent, ${budgetUnit(budget.same)}`,
    `gain${inHead(units.difference)}`,
  ]
  return markdownTable(
    [...heads, `difference [95 %]${inHead(units.difference)}`, 'p (Holm)', ''].map(say),
    arms.map(row),
  )
}

const armSentences = (analysis: Analysis, say: Say): string[] =>
  analysis.arms
    .filter(({ comparison }) => comparison)
    .map((arm) => `- ${markdownText(say(armSentence(arm, analysis)))}`)

/** What was expected to be seen before the runs, and what can be. */
const powerLines = ({ power }: Study, analysis: Analysis, say: Say): string[] =>
  [power && `Expected before the runs: ${power}`, powerSentence(analysis)].flatMap((one) =>
    one ? [`- ${markdownText(say(one))}`] : [],
  )

/** Plan, answer, table and sentences of every primary measure behind the first. */
const furtherMeasures = (study: Study, { also = [] }: Analysis, say: Say): string[] =>
  also.flatMap((analysis, i) => {
    const own = { ...study, measure: measuresOf(study)[i + 1] }
    return [
      markdownText(say(measureSentence(own, analysis))),
      `**${markdownText(say(answerSentence(own, analysis)))}**`,
      armsTable(analysis, own, say),
      armSentences(analysis, say).join('\n'),
    ]
  })

/** A bracket would end the link's address. */
const linkInMarkdown = (experiment: Experiment): string =>
  encodeLink(experiment).replaceAll('(', '%28').replaceAll(')', '%29')

/** What the others are compared with comes first: the page lists a study by it. */
const baselineFirst = ({ arms, baseline }: Analysis): Analysis['arms'] => [
  ...arms.filter(({ arm }) => arm.name === baseline),
  ...arms.filter(({ arm }) => arm.name !== baseline),
]

const LINKS = 'In the page: [the plan of the study](PLAN); one arm: ARMS.'

/** Leads into the page: to the plan of the study, and to each arm. */
function linksLine(analysis: Analysis, study: Study, say: Say, address?: string): string {
  const plan = `${address ?? ''}#tab=study&study=${encodeStudy(study)}`
  const arms = baselineFirst(analysis)
    .map(
      ({ arm }) =>
        `[${markdownText(say(arm.name))}](${address ?? ''}?${linkInMarkdown(arm.experiment)})`,
    )
    .join(', ')
  const links = say(LINKS)
    .replace('PLAN', () => plan)
    .replace('ARMS', () => arms)
  return address === undefined ? `${links} Put these behind the page’s address.` : links
}

/** One page: question, plan, answer, table, pictures, limits. */
function reportOf(
  {
    study,
    whole,
    begins = '',
    address,
    say = String,
  }: Readonly<Record<'study' | 'whole', Study>> & Told,
  analysis: Analysis,
  changes: readonly string[],
  pictures: readonly string[],
): string {
  const { runs, warnings, leftOver } = analysis
  const adapters = [...new Set(runs.map(({ adapter }) => adapter))]
  const limits = [
    ...warnings,
    ...changes,
    ...(leftOver > 0 && !study.search
      ? [`${leftOver} kept runs belong to no arm of the study as it is now, and are not shown.`]
      : []),
    ...(study.search
      ? [
          `The compared settings were chosen by a ${study.search.kind} search among ${study.search.arms} per arm on other seeds than these.`,
        ]
      : []),
  ]
  const sentences = armSentences(analysis, say)
  const [title, question] = titleParts(study).map(say)
  return [
    `# ${markdownText(title)}`,
    ...(question === '' ? [] : [markdownText(question)]),
    `**${markdownText(say(answerSentence(study, analysis)))}**`,
    ...[exploratoryWords(changes)].filter((words) => words !== '').map(say),
    markdownText(`${say(begins)} ${say(planSentence(study, analysis))}`.trim()),
    markdownText(
      say(
        `${runs.length} runs on ${adapters.join('; ') || 'no adapter yet'}; seeds ${study.seeds.join(', ')}.`,
      ),
    ),
    armsTable(analysis, study, say),
    [...sentences, ...powerLines(study, analysis, say)].join('\n'),
    ...furtherMeasures(study, analysis, say),
    linksLine(analysis, whole, say, address),
    ...pictures.map((name) => `![${name.replace('.svg', '')}](${name})`),
    ...[besideTable(study, analysis, say), entropyTable(study, analysis, say)].filter(
      (table) => table !== undefined,
    ),
    ...insideTables(study, analysis, say),
    ...(limits.length > 0
      ? [`## ${say('Limits')}`, limits.map((one) => `- ${markdownText(say(one))}`).join('\n')]
      : []),
    '',
  ].join('\n\n')
}
