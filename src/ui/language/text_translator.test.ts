import { beforeEach, expect, test } from 'vitest'
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
}

let texts: TextTranslator
beforeEach(() => {
  texts = new TextTranslator({
    say: (key, values = []) =>
      CATALOGUE[key]?.replace(/\{(\d+)\}/g, (_, index) => values[Number(index)]),
  })
  texts.learn(Object.keys(CATALOGUE))
})

test('a text is said whole, and numbers and what is not known stay', () => {
  expect(texts.translate('Reinforcement')).toBe('强化学习')
  expect(texts.translate('12.5 %')).toBe('12.5 %')
  expect(texts.translate('Sheep')).toBe('Sheep')
})

test('a text is recognised by its template, and so are the texts in its holes', () => {
  expect(texts.translate('Step 3 of 9')).toBe('第 3 步，共 9 步')
  expect(
    texts.translate(
      'Imitation, 4 steps: the final policy became surer by 0.12 nats. The mean score of samples went from 1 % to 20 %.',
    ),
  ).toBe('模仿学习，4 步：最终策略的熵降低了 0.12 nats。样本的平均得分从 1 % 变为 20 %。')
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
  expect(texts.translate('of 9 steps')).toBe('steps（共 9）')
})
