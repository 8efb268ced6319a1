import { expect, test } from 'vitest'
import { allTexts } from '../../language/testing.ts'
import { entryOf } from '../table/testing.ts'
import { cellText, columnLabel } from './columns.ts'
import { metricWords } from './metric_words.ts'

const METRICS: Readonly<Record<string, string>> = {
  'actor/grad_norm': '梯度范数',
  'actor/pg_clipfrac_lower': '双重裁剪的比例',
  'critic/advantages/mean': '优势平均值',
  'critic/score/mean': '回答得分平均值',
  'critic/values/mean': 'critic 的价值平均值',
  'group/informative': '得分有差别的组的比例',
  'layer/entropy/2': '第 2 层的熵',
  'perf/total_num_tokens': '每步 token 数',
  'response/not_ended_ratio': '没有结束符的回答的比例',
  'response_length_non_aborted/max': '未中止的回答长度最大值',
  'timing_s/adv': '优势',
  'timing_s/old_log_prob': '旧策略',
  'training/skipped_updates_total': '略去的更新总数',
  'val-aux/sort_digits/acc/greedy': '留出准确率：贪心',
  'val-core/sort_digits/acc/mean@1': '留出准确率：mean@1',
}
const SETTINGS: Readonly<Record<string, string>> = {
  'phases.0.kind': '阶段 1：类型',
  'phases.0.steps': '阶段 1：步数',
  'actor.optim.lr': '学习率',
  'probe.freq': '探测间隔',
  'probe.internals': '探测熵的变化',
  'validation.val_before_train': '第一步之前的验证',
  'rollout.max_turns': '轮',
}

test('columns are named in words of the language', () => {
  const texts = allTexts()
  for (const [metric, said] of Object.entries(METRICS))
    expect(texts.translate(metricWords(`metric:${metric}`))).toBe(said)
  for (const [path, said] of Object.entries(SETTINGS))
    expect(texts.translate(columnLabel(`setting:${path}`))).toBe(said)
})

test('a task is called by its name in a cell and in the heading of a group', () => {
  const entry = entryOf('a', {})
  expect(cellText('sort_digits', 'fact:task', entry)).toBe('Sort digits')
})
