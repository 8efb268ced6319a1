// Checks the rules of attention heads, of the model that is trained and of one that teaches.
import type { TeacherFields } from '../fields/teacher_fields.ts'
import type { Rule } from './rule.ts'

/** `at`: the section of the fields. */
export function headRules(
  {
    num_attention_heads,
    num_key_value_heads,
    head_dim,
  }: Pick<TeacherFields, 'num_attention_heads' | 'num_key_value_heads' | 'head_dim'>,
  at: 'model' | 'teacher',
  rule: Rule,
): void {
  rule(
    num_attention_heads % num_key_value_heads === 0,
    `${at}.num_key_value_heads`,
    [`${at}.num_attention_heads`],
    `expected a divisor of num_attention_heads (${num_attention_heads}), because every key-value head serves the same number of query heads; got ${num_key_value_heads}`,
  )
  rule(
    head_dim % 2 === 0,
    `${at}.head_dim`,
    [],
    `expected an even number, because rotary positions turn channels in pairs; got ${head_dim}`,
  )
}
