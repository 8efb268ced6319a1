import { beforeEach, expect, test } from 'vitest'
import { tidy } from './punctuation.ts'
import { TextTranslator } from './text_translator.ts'

const CATALOGUE: Readonly<Record<string, string>> = {
  Reinforcement: '强化学习',
  'the final policy': '最终策略',
  '{0} became surer by {1} nats': '{0}的熵降低了 {1} nats',
  'Imitation, {0}: {1}.{2}': '模仿学习，{0}：{1}。{2}',
  '{0} steps': '{0} 步',
  'The mean score of samples went from {0} to {1}.': '样本的平均得分从 {0} 变为 {1}。',
  'Step {0} of {1}': '第 {0} 步，共 {1} 步',
  'of {0} {1}': '{1}（共 {0}）',
  '{0} is busy': '{0} 正忙',
  'It continues.': '它继续。',
  steps: '步',
  '{0} of {1}': '{1} 之 {0}',
  Layer: '层',
  '{0}: expected {1}, found {2}': '{0}：应为 {1}，实为 {2}',
  '{0} cannot run this. {1}': '{0} 无法运行。{1}',
  '{0} is {1}: {2}': '{0} 为 {1}：{2}',
  'it has no such setting': '没有这样的设置',
  'Without it the reward changes by {0}.': '没有它，奖励变化 {0}。',
  'what was done to it ({0})': '修改（{0}）',
  '{0}: expected one of {1}, got {2}': '{0}：应为 {1} 之一，得到 {2}',
  reward: '奖励',
  'In the log: {0}': '日志中的名称：{0}',
  'In the log: {0}; and {1} more': '日志中的名称：{0}；另有 {1} 项',
  score: '得分',
  temperature: '温度',
  '{0} responses': '{0} 个回答',
  'By {0}': '作者：{0}',
  '{0}: layer {1}': '{0}：第 {1} 层',
  'layer {0}': '第 {0} 层',
  'layer {0} alone': '只训练第 {0} 层',
  'whole model': '整个模型',
  'Open the study “{0}”': '打开研究“{0}”',
  'Which layer learns? (Sort)': '哪一层在学习？（排序）',
  'It takes {0} and {1} of memory.': '需要{0}和{1}显存。',
  'Training: a step': '训练：一步',
  'mean score': '平均得分',
  '{0} {1} → {2} in {3}; entropy of the policy {4}.': '{0} {1} → {2}，{3}；策略的熵 {4}。',
  'Open “{0}”': '打开“{0}”',
  'Kept: {0}': '已保留：{0}',
  'Newest values. {0}.': '最新的值。{0}。',
  'Not in this step: {0}.': '这一步没有：{0}。',
  'no critic; no reference': '没有 critic，也没有参考策略',
  'From step {0} to {1} it {2}{3}.': '从第 {0} 步到第 {1} 步，它{2}{3}。',
  'stayed at {0}{1}': '保持在 {0}{1}',
  '; it was lowest at step {0}': '；最低在第 {0} 步',
  'prompts per step': '每步的提示数',
  'Logarithmic steps': '步取对数',
  architecture: '架构',
}
/** In a catalogue that comes later. */
const LATER: Readonly<Record<string, string>> = {
  'Teacher: {0}. Student: {1}.': '教师：{0}。学生：{1}。',
  'Train it, and look at the share: it rises.': '训练它，看比例：它上升。',
  'it rises': '它上升',
  'and {0} stay out': '和 {0} 不参加',
  'head {0} of layer {1}': '第 {1} 层的头 {0}',
  'the attention of layer {0}': '第 {0} 层的注意力',
}

let texts: TextTranslator
beforeEach(() => {
  texts = new TextTranslator({
    say: (key, values = []) =>
      ({ ...CATALOGUE, ...LATER })[key]?.replace(/\{(\d+)\}/g, (_, index) => values[Number(index)]),
  })
  texts.learn(Object.keys(CATALOGUE))
  texts.learn(Object.keys(LATER))
})

test('a duration and a learning rate are written as they are elsewhere', () => {
  expect(texts.translate('43 s')).toBe('43 秒')
  expect(texts.translate('1.21 s')).toBe('1.21 秒')
  expect(texts.translate('96.3 ms')).toBe('96.3 毫秒')
  expect(texts.translate('988 tok/s')).toBe('988 token/秒')
  expect(texts.translate('lr')).toBe('学习率')
  expect(texts.translate('lr 0.001')).toBe('学习率 0.001')
  expect(texts.translate('whole model, lr 5e-4')).toBe('整个模型，学习率 5e-4')
  expect(texts.translate('actor/lr')).toBe('actor/lr')
  expect(texts.translate('By k = 2; k = 4')).toBe('作者：k = 2；k = 4')
})

test('a text is said whole, and numbers and what is not known stay', () => {
  expect(texts.translate('Reinforcement')).toBe('强化学习')
  expect(texts.translate('12.5')).toBe('12.5')
  expect(texts.translate('Sheep')).toBe('Sheep')
})

test('a text is recognised by its template, and so are the texts in its holes', () => {
  expect(texts.translate('Step 3 of 9')).toBe('第 3 步，共 9 步')
  expect(
    texts.translate(
      'Imitation, 4 steps: the final policy became surer by 0.12 nats. The mean score of samples went from 1 % to 20 %.',
    ),
  ).toBe('模仿学习，4 步：最终策略的熵降低了 0.12 nats。样本的平均得分从 1% 升到 20%。')
})

test('a per cent sign stands beside its number, and before a word with a space', () => {
  expect(texts.translate('12.5 %')).toBe('12.5%')
  expect(texts.translate('It takes 12.5\u00a0% and 3\u202f% of memory.')).toBe(
    '需要 12.5% 和 3% 显存。',
  )
})

test('numbers of an interval keep their comma', () => {
  expect(texts.translate('Without it the reward changes by 3 [−1, 7].')).toBe(
    '没有它，奖励变化 3 [−1, 7]。',
  )
})

test('numbers in a row are one value', () => {
  expect(texts.translate('Teacher: 60.0 %, 38.0 %. Student: 54.0 %, 46.0 %.')).toBe(
    '教师：60.0%、38.0%。学生：54.0%、46.0%。',
  )
})

test('what stands between elements is said whole before its parts are', () => {
  expect(texts.translate('\ue000Logarithmic steps')).toBe('\ue000步取对数')
  expect(texts.translate('\ue000 Train it, and look at the share: it rises.')).toBe(
    '\ue000 训练它，看比例：它上升。',
  )
  expect(texts.translate('\ue000 and \ue001 stay out')).toBe('\ue000 和 \ue001 不参加')
})

test('a name in a hole stays, and a long text is not taken for one', () => {
  expect(texts.translate('SmolLM2-135M is busy')).toBe('SmolLM2-135M 正忙')
  const long = 'Nobody knows this. That it is busy'
  expect(texts.translate(long)).toBe(long)
})

test('sentences are said one by one, with the spaces around a text kept', () => {
  expect(texts.translate('Step 3 of 9. It continues.')).toBe('第 3 步，共 9 步。它继续。')
  expect(texts.translate(' reinforcement ')).toBe(' 强化学习 ')
})

test('a sentence may put its values into another order', () => {
  expect(texts.translate('of 9 steps')).toBe('步（共 9）')
})

test('of all catalogues the fullest template is taken, at the beginning of a sentence too', () => {
  expect(texts.translate('head 2 of layer 3')).toBe('第 3 层的头 2')
  expect(texts.translate('The attention of layer 3')).toBe('第 3 层的注意力')
})

test('code in a hole is said, and clauses beside it are said one by one', () => {
  expect(texts.translate('x.csv: expected steps, found 2')).toBe('x.csv：应为步，实为 2')
  expect(
    texts.translate(
      'TRL cannot run this. actor.loss_mode is clip_cov: it has no such setting; critic.lr is 0.1: it has no such setting',
    ),
  ).toBe(
    'TRL 无法运行。actor.loss_mode 为 clip_cov：没有这样的设置；critic.lr 为 0.1：没有这样的设置',
  )
})

test('a number may have its interval, and brackets belong to the last of a list', () => {
  expect(texts.translate('Without it the reward changes by −0.3 ± 0.1.')).toBe(
    '没有它，奖励变化 −0.3 ± 0.1。',
  )
  expect(texts.translate('reinforcement and what was done to it (3)')).toBe('强化学习、修改（3）')
})

test('what a log calls its metrics stays, whatever the words mean elsewhere', () => {
  expect(texts.translate('In the log: reward')).toBe('日志中的名称：reward')
  expect(texts.translate('In the log: reward; score; and 3 more')).toBe(
    '日志中的名称：reward; score；另有 3 项',
  )
})

test('names of code that are listed or were given stay, whatever the words mean elsewhere', () => {
  expect(texts.translate('kind: expected one of reward, score, steps, got layer')).toBe(
    'kind：应为 reward、score、steps 之一，得到 layer',
  )
})

test('a template that counts wants a number, and a short one stands at the beginning alone', () => {
  expect(texts.translate('12 responses')).toBe('12 个回答')
  expect(texts.translate('weights by responses')).toBe('weights by responses')
  expect(texts.translate('by the final policy')).toBe('by the final policy')
  expect(texts.translate('By the final policy')).toBe('作者：最终策略')
})

test('a short name with its number may stand in a list', () => {
  expect(texts.translate('GRPO, lr 1e-4, temperature 1.2')).toBe('GRPO，学习率 1e-4，温度 1.2')
  expect(texts.translate('GRPO, lr 8e-4')).toBe('GRPO，学习率 8e-4')
  expect(texts.translate('0.2 and 0.28')).toBe('0.2、0.28')
})

test('what is numbered ends with its number', () => {
  expect(texts.translate('whole model: layer 3')).toBe('整个模型：第 3 层')
  expect(texts.translate('whole model: layer 1 alone; layer 2 alone')).toBe(
    '整个模型：只训练第 1 层；只训练第 2 层',
  )
})

test('a dash in place of the value of a layer comes behind its number', () => {
  expect(texts.translate('layer 2 –')).toBe('第 2 层 –')
})

test('what is quoted may be a question', () => {
  expect(texts.translate('Open the study “Which layer learns? (Sort)”')).toBe(
    '打开研究“哪一层在学习？（排序）”',
  )
})

test('a space stands between Chinese and Latin letters or digits', () => {
  expect(texts.translate('It takes 3 GiB and 6.1 MiB of memory.')).toBe(
    '需要 3 GiB 和 6.1 MiB 显存。',
  )
  expect(texts.translate('It takes 3 s and 6.1 MiB of memory.')).toBe('需要 3 秒和 6.1 MiB 显存。')
})

test('a name may hold the sign that joins it to the rest', () => {
  expect(texts.translate('Training: a step: whole model')).toBe('训练：一步：整个模型')
})

test('of all cuts that a template allows, that without unknown words is taken', () => {
  for (const score of ['the mean score', 'Mean score'])
    expect(texts.translate(`${score} 3 → 4 in 12 steps; entropy of the policy 1 nats.`)).toBe(
      '平均得分 3 → 4，12 步；策略的熵 1 nats。',
    )
})

test('what is in brackets alone is said', () => {
  expect(texts.translate('(reward)')).toBe('（奖励）')
})

test('what is quoted is a name where it has no translation', () => {
  expect(texts.translate('Open “small”')).toBe('打开“small”')
})

test('a quantity is no name, and one hole alone may begin with a number', () => {
  expect(texts.translate('Kept: 521 KiB')).toBe('已保留：521 KiB')
  expect(texts.translate('Newest values. 3 steps: 0.44; layer 1: 2.64.')).toBe(
    '最新的值。3 步：0.44；第 1 层：2.64。',
  )
})

test('a value that begins with a clause is cut before it', () => {
  expect(texts.translate('From step 1 to 9 it stayed at 3.2 nats; it was lowest at step 8.')).toBe(
    '从第 1 步到第 9 步，它保持在 3.2 nats；最低在第 8 步。',
  )
})

test('a number comes behind the name of what it counts', () => {
  expect(texts.translate('GRPO, 8 prompts per step')).toBe('GRPO，每步的提示数 8')
})

test('a setting may have a word of code for its value, and belong to the critic', () => {
  expect(texts.translate('GRPO, architecture qwen3, critic temperature 2, critic lr 0.1')).toBe(
    'GRPO，架构 qwen3，critic 温度 2，critic 学习率 0.1',
  )
})

test('what is in brackets is not cut', () => {
  expect(texts.translate('Not in this step: score (no critic; no reference); reward.')).toBe(
    '这一步没有：得分（没有 critic，也没有参考策略）；奖励。',
  )
})

test('large counts are in 万 and 亿, and a count that names an arm is quoted', () => {
  const of = (count: string) => tidy(`${count} 个权重；最多需要 92.2k 个 token。`)
  expect(of('31.9k')).toBe('3.19 万个权重；最多需要 9.22 万个 token。')
  expect(['2k', '1.2M', '135M'].map((count) => of(count).split('；')[0])).toEqual([
    '2000 个权重',
    '120 万个权重',
    '1.35 亿个权重',
  ])
  expect(tidy('与 40 对在留出奖励上等效')).toBe('与“40 对”在留出奖励上等效')
})
