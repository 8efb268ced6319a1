import { afterEach, expect, test } from 'vitest'
import { experimentFields } from '../../document/experiment/form/form.ts'
import { PRESETS, presetOf } from '../../document/presets/presets.ts'
import { SETTINGS } from '../../jobs/settings/settings.ts'
import { translateWith } from '../kit/translator.ts'
import { allTexts } from '../language/testing.ts'
import { isMeant } from './other_words.ts'
import {
  findFields,
  findWords,
  foundChoices,
  foundWords,
  idleWords,
  isFound,
  openIdle,
  pathWords,
  sortFound,
} from './settings_search.ts'

afterEach(() => translateWith(undefined))

const fields = experimentFields(PRESETS[0].experiment)
const paths = (query: string) =>
  fields.filter((field) => isFound(query, field)).map(({ path }) => path)

test('fields are found by name, by path and by heading', () => {
  expect(paths('learning rate')).toContain('actor.optim.lr')
  expect(paths('optim.lr')).toContain('actor.optim.lr')
  expect(paths('train_batch')).toContain('rollout.train_batch_size')
  expect(paths('model hidden')).toContain('model.hidden_size')
  expect(paths('zzzz')).toEqual([])
})

test('a question in plain words finds the setting that answers it', () => {
  expect(paths('how fast')).toContain('actor.optim.lr')
  expect(paths('How fast?')).toContain('actor.optim.lr')
  expect(paths('how many tries')).toContain('rollout.n')
  expect(paths('which layer')).toContain('phases.1.target_layer')
  // Small words alone mean nothing, and a word that is not known finds nothing.
  expect(isMeant(['how', 'many'], 'rollout.n')).toBe(false)
  expect(isMeant(['how', 'purple'], 'rollout.n')).toBe(false)
})

test('how many there are of something is asked for by its name, and the whole name comes first', () => {
  const first = (query: string) => sortFound(query, findFields(query, fields)).named[0][1][0]
  for (const query of ['number of layers', 'How many layers', 'the layers', 'layers'])
    expect(first(query).label, query).toBe('Layers')
  for (const query of ['number of steps', 'steps']) expect(first(query).label, query).toBe('Steps')
  expect(first('reward').label).toMatch(/^Reward/)
  expect(first('critic').label).toMatch(/critic/i)
  expect(paths('number')).not.toEqual(paths(''))
})

test('names of other trainers that are no path here lead to what has their place', () => {
  const meant = {
    lora_rank: 'model.lora.r',
    lora_r: 'model.lora.r',
    warmup_ratio: 'actor.optim.lr_warmup_steps',
    total_epochs: 'phases.0.steps',
    gradient_accumulation_steps: 'actor.ppo_mini_batch_size',
    steps_per_generation: 'rollout.train_batch_size',
  }
  for (const [query, path] of Object.entries(meant)) expect(paths(query), query).toContain(path)
})

test('a setting is found by the short form that others have for it, the meant one first', () => {
  const preset = presetOf('tiny')
  if (!preset) throw new Error('no preset')
  const all = experimentFields(preset.experiment)
  const first = (query: string) => {
    const found = all.filter((field) => isFound(query, field))
    const shown = found.filter(({ hasEffect }) => hasEffect)
    const idle = found.filter(({ hasEffect }) => !hasEffect)
    // As the page has them: what is meant, though it has no effect, is above what is in force.
    return [
      ...openIdle(query, shown, idle),
      ...sortFound(query, shown).named.flatMap(([, own]) => own),
    ][0]?.path
  }
  const meant = {
    'KL coef': 'actor.kl_loss_coef',
    'kl penalty': 'actor.kl_loss_coef',
    beta: 'actor.kl_loss_coef',
    lr: 'actor.optim.lr',
    temp: 'rollout.temperature',
    'eps clip': 'actor.clip_ratio_low',
    cliprange: 'actor.clip_ratio_low',
    'max len': 'rollout.max_response_length',
    'max new tokens': 'rollout.max_response_length',
    'group size': 'rollout.n',
    bs: 'rollout.train_batch_size',
    wd: 'actor.optim.weight_decay',
    'top p': 'rollout.top_p',
    'top k': 'rollout.top_k',
    'max grad norm': 'actor.grad_clip',
    'eval freq': 'validation.test_freq',
  }
  for (const [query, path] of Object.entries(meant)) expect(first(query), query).toBe(path)
})

test('in Chinese a setting is found by the words that engineers have for it', () => {
  const texts = allTexts()
  const text = (english: string) => texts.translate(english)
  translateWith({ locale: 'zh-CN', text, props: (_, props) => props })
  const found = {
    批量大小: 'rollout.train_batch_size',
    批大小: 'rollout.train_batch_size',
    早停: 'phases.1.stop.plateau_steps',
    温度系数: 'rollout.temperature',
    上下文长度: 'rollout.max_response_length',
    上下文: 'rollout.max_response_length',
    批次大小: 'rollout.train_batch_size',
    词表: 'model.vocab_size',
    词汇表: 'model.vocab_size',
    参考模型: 'actor.kl_loss_coef',
    正则: 'actor.optim.weight_decay',
  }
  for (const [query, path] of Object.entries(found)) expect(paths(query), query).toContain(path)
})

test('a setting is found by the name that the export to TRL gives it', () => {
  // What the experiment is called is no setting of the form.
  const settings = Object.entries(SETTINGS).filter(([path]) => path !== 'name')
  const missing = settings.flatMap(([path, { trl }]) => {
    const names = 'to' in trl ? [trl.to].flat().filter((name) => name !== '') : []
    return names
      .filter((name) => !path.includes(name) && !isMeant([name], path))
      .map((name) => `${name}: ${path}`)
  })
  expect(missing).toEqual([])
  expect(paths('num_generations').every((path) => path.endsWith('rollout.n'))).toBe(true)
})

test('a setting is found first by the name that verl has for it, as its command has it', () => {
  const first = (query: string) => {
    const found = fields.filter((field) => isFound(query, field))
    const { named, inherited } = sortFound(query, found)
    return [...named, ...inherited].flatMap(([, own]) => own)[0]?.path ?? ''
  }
  const missing = Object.entries(SETTINGS).flatMap(([path, { verl }]) => {
    if (path === 'name' || !('to' in verl)) return []
    return [verl.to]
      .flat()
      .flatMap((name) => [name, `${name.startsWith('+') ? '' : '--'}${name}=False`])
      .filter((name) => !first(name).endsWith(path.replace('phases.rl', '')))
  })
  expect(missing).toEqual([])
  expect(first('+actor_rollout_ref.actor.optim.lr')).toBe('actor.optim.lr')
})

test('what has no effect is shown where nothing else is found, or where it alone is meant', () => {
  const of = (query: string) => {
    const found = fields.filter((field) => isFound(query, field))
    const idle = found.filter(({ hasEffect }) => !hasEffect)
    const shown = found.filter(({ hasEffect }) => hasEffect)
    return { idle, shown, open: openIdle(query, shown, idle).map(({ path }) => path) }
  }
  const { idle, shown, open } = of('kl_loss_coef')
  expect(shown).toEqual([])
  expect(open.toSorted()).toEqual(idle.map(({ path }) => path).toSorted())
  // TRL's weight of the KL comes before the betas of AdamW, which are in force.
  expect(of('beta').shown.map(({ path }) => path)).toContain('actor.optim.betas.0')
  expect(of('beta').open).toContain('actor.kl_loss_coef')
  expect(of('learning rate').open).toEqual([])
})

test('phases are counted from one, in what is shown and in what finds them', () => {
  expect(pathWords('phases.0.adv_estimator')).toBe('phase 1: adv_estimator')
  expect(pathWords('phases.10.actor.optim.lr')).toBe('phase 11: actor.optim.lr')
  expect(pathWords('actor.optim.lr')).toBe('actor.optim.lr')
  const say = (words: string) => words.replace('phase 1:', '阶段 1：')
  expect(pathWords('phases.0.steps', say)).toBe('阶段 1：steps')
  const found = paths('phase 1: steps')
  expect(found).toContain('phases.0.steps')
  expect(found.filter((path) => path.startsWith('phases.1.'))).toEqual([])
})

test('every word counts, and help only where a word begins with it', () => {
  expect(paths('learning rate warm').every((path) => /lr/.test(path))).toBe(true)
  // 'already' is no learning rate.
  const [field] = fields
  expect(isFound('lr', { ...field, label: 'a', path: 'a', group: 'a', help: 'already' })).toBe(
    false,
  )
  expect(isFound('alre', { ...field, label: 'a', path: 'a', group: 'a', help: 'already' })).toBe(
    true,
  )
})

test('what was found is marked, also where it looks like a pattern', () => {
  expect(findWords('ra', 'Learning rate', false)).toEqual([[9, 11]])
  expect(findWords('e l', 'The label', true)).toEqual([[4, 5]])
  expect(findWords('(.*', 'a (.*) b', false)).toEqual([[2, 5]])
  expect(findWords(' ', 'a b', false)).toEqual([])
})

test('the count is a sentence', () => {
  expect(foundWords(1, 1, 0)).toBe('1 setting in 1 section')
  expect(foundWords(7, 3, 2)).toBe('7 settings in 3 sections')
  expect(foundWords(0, 0, 0)).toBe('No setting found')
  expect(foundWords(0, 0, 3)).toBe('3 found, without effect as the settings are')
  expect(idleWords(2)).toBe('2 more without effect as the settings are')
})

test('what is in force comes before what phases take over from it', () => {
  const found = fields.filter((field) => isFound('clip', field))
  const { named, told, inherited } = sortFound('clip', found)
  const of = (groups: typeof named) => groups.flatMap(([, own]) => own)
  expect(of(named).map(({ path }) => path)).toContain('actor.clip_ratio_low')
  expect([...of(named), ...of(told)].some(({ isOverridden }) => isOverridden === false)).toBe(false)
  expect(of(inherited).length).toBeGreaterThan(0)
})

test('whoever looks for an algorithm finds what chooses it first', () => {
  for (const query of ['algorithm', 'adv_estimator', 'GRPO', 'PPO']) {
    const found = fields.filter((field) => isFound(query, field))
    const [[, [first]]] = sortFound(query, found).named
    expect(first.path, query).toMatch(/^phases\.\d+\.adv_estimator$/)
  }
})

test('a field that was found by a choice of its menu says which', () => {
  const loss = fields.find(({ path }) => path === 'actor.loss_mode')
  if (!loss) throw new Error('no field of the loss')
  expect(foundChoices('clip', loss)).toContain('PPO, clipped')
  expect(foundChoices('loss', loss)).toEqual([])
})

test('what a key names comes first, and what all phases share before the copy of one', () => {
  const preset = presetOf('two-skills-bupo')
  if (!preset) throw new Error('no preset')
  const all = experimentFields(preset.experiment)
  const first = (query: string) => {
    const found = all.filter((field) => isFound(query, field))
    const shown = found.filter(({ hasEffect }) => hasEffect)
    const idle = found.filter(({ hasEffect }) => !hasEffect)
    const { named } = sortFound(query, shown)
    return [
      named.flatMap(([, own]) => own)[0]?.path,
      openIdle(query, shown, idle).map(({ path }) => path)[0],
    ]
  }
  expect(first('lr')[0]).toBe('actor.optim.lr')
  expect(first('actor_rollout_ref.actor.kl_loss_coef')[1]).toBe('actor.kl_loss_coef')
})
