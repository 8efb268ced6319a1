import { afterEach, expect, test } from 'vitest'
import { FIRST_CLUSTER as CLUSTER } from '../../../jobs/scale/scale.ts'
import { experimentOf, onRows, PAIRS, sourceOf } from '../../../jobs/testing.ts'
import { translateWith } from '../../kit/translator.ts'
import { allTexts } from '../../language/testing.ts'
import JOBS from '../../language/zh/jobs.json'
import { FIRST_PLAN, filesOf, outcomeOf, type Plan, pageWords } from './plan.ts'
import { refusedWords } from './refused_words.ts'

afterEach(() => translateWith(undefined))

test('what a run that is over cannot be is offered by the names of the dialog', () => {
  expect(pageWords('phases: phase 1 is over at this checkpoint; export for verl')).toBe(
    'phases: phase 1 is over at this checkpoint; choose these settings untrained, or verl',
  )
})

test('the folder says for which version of verl it is, and for no other system', () => {
  const experiment = experimentOf({ phases: [{ kind: 'rl', steps: 2 }] })
  const source = { ...sourceOf(experiment), series: undefined, title: 'Mine' }
  const nameOf = (change: Partial<Plan>) => {
    const plan = { ...FIRST_PLAN, ...change }
    return filesOf(source, plan, outcomeOf(source, plan).proposed).name
  }
  expect(nameOf({})).toMatch(/^mine-seed-\d+-verl-0\.9$/)
  expect(nameOf({ verl: '0.7' })).toMatch(/-verl-0\.7$/)
  expect(nameOf({ format: 'hf', verl: '0.7' })).toMatch(/\d-hf$/)
})

test('a refusal calls fields and their values as the form does', () => {
  const refused = (document: object, format: Plan['format']) => {
    const source = { ...sourceOf(experimentOf(document)), series: undefined, title: 'Mine' }
    const outcome = outcomeOf(source, { ...FIRST_PLAN, format })
    return 'refused' in outcome ? outcome.refused : ''
  }
  const rl = { kind: 'rl', steps: 2 }
  expect(refused({ phases: [{ ...rl, adv_estimator: 'gae' }] }, 'trl')).toContain(
    '“Phase 1: Advantage estimator” is GAE (PPO with a critic): expected GRPO, ',
  )
  const dynamic = { phases: [rl], algorithm: { filter_groups: { enable: true } } }
  expect(refused(dynamic, 'trl')).toContain('“Dynamic sampling” is on: TRL has no')
  const pairs = { phases: [{ kind: 'preference', steps: 2, pairs: { source: 'judge' } }] }
  expect(refused(pairs, 'verl')).toMatch(/^Phase 1: verl has no trainer of preferences/)
  expect(refused({ phases: [rl] }, 'bupo')).toMatch(/^Phases: expected an inner phase/)
})

const texts = allTexts()
const speakChinese = () =>
  translateWith({
    locale: 'zh-CN',
    text: (english) => texts.translate(english),
    props: (_, props) => props,
  })

test('a refusal is wholly in Chinese, its fields and their values too', () => {
  speakChinese()
  const refused = (document: object) => {
    const source = { ...sourceOf(experimentOf(document)), series: undefined, title: 'Mine' }
    const outcome = outcomeOf(source, { ...FIRST_PLAN, format: 'trl' })
    return 'refused' in outcome ? outcome.refused : ''
  }
  const phases = [{ kind: 'rl', steps: 2, adv_estimator: 'reinforce_plus_plus' }]
  const said = refused({ phases })
  expect(said).toBe(
    'TRL 的 GRPOTrainer 无法运行此实验：“阶段 1 的优势估计”为 REINFORCE++：应为 GRPO、“GRPO，向量化（verl 0.7 及以前）”、“GRPO，批次的标准差（TRL：scale_rewards batch）”',
  )
  // Elements ask again.
  expect(texts.translate(said)).toBe(said)
})

const VALUES = ['0', 'b_c', 'X9', 'd/e', 'f.g']

test('no kind of refusal or warning of a job stays in English', () => {
  speakChinese()
  const { experiment } = sourceOf(experimentOf({ phases: [{ kind: 'rl', steps: 2 }] }))
  const all = Object.keys(JOBS).map((key) =>
    pageWords(key.replace(/\{(\d+)\}/g, (_, i) => VALUES[Number(i)])),
  )
  const left = all
    .map((text) => refusedWords(text, experiment))
    .filter((said) => /\b(?:cannot|expected|found|has|is|of|the|which|with) /.test(said))
  expect(left).toEqual([])
})

/** Lines of README.md that hold words of English, its commands and names of code excepted. */
function englishOf(readme: string): string[] {
  const lines = readme.split('\n').filter((line) => !line.startsWith('    '))
  return lines.filter((line) =>
    /\b(?:a|an|are|in|is|of|on|steps|the|with)\b|: /.test(line.replace(/`[^`]*`/g, '')),
  )
}

test('README.md of a job is written in the page’s language', async () => {
  const inner = { kind: 'rl', steps: 2, target_layer: 1 }
  const sources = [
    sourceOf(experimentOf({ phases: [inner, { kind: 'rl', steps: 2 }] })),
    sourceOf(
      experimentOf({
        phases: [
          { kind: 'sft', steps: 2 },
          { kind: 'rl', steps: 2 },
        ],
      }),
    ),
    sourceOf(await onRows(PAIRS, { rpo_alpha: 0.2 })),
  ]
  const readmes = (said: RegExp) =>
    sources.flatMap((source) =>
      (['verl', 'bupo', 'trl'] as const).flatMap((format) => {
        const own = { ...source, series: undefined, title: 'Mine' }
        const plan = { ...FIRST_PLAN, format, cluster: format === 'bupo' ? CLUSTER : undefined }
        const outcome = outcomeOf(own, plan)
        if ('refused' in outcome) return []
        const { files } = filesOf(own, plan, outcome.proposed)
        const pieces = files.find(({ path }) => path === 'README.md')?.pieces ?? []
        const readme = Buffer.concat([...pieces]).toString()
        expect(readme).toMatch(said)
        return [readme]
      }),
    )
  expect(readmes(/## How to start it\n/)).toHaveLength(6)
  const texts = allTexts()
  translateWith({ locale: 'zh-CN', text: (text) => texts.translate(text), props: (_, own) => own })
  const chinese = readmes(/## 如何启动\n/)
  expect(chinese.join('\n')).toContain('- `run_verl.sh`：用 verl 训练 2 步。')
  expect(chinese.join('\n')).toContain('    bash run_verl.sh trainer.')
  expect(chinese.flatMap(englishOf)).toEqual([])
})
