// Tells models that learned answers alone: those that come with the lab, and what was made of them.
import { SHIPPED, shippedModel } from '../../../host/content/models/shipped.ts'
import type { OpenedModelFacts } from '../../../host/protocol/opened_model.ts'
import type { FirstTry } from '../../../page/opened/opened_model.ts'

/** Whether nobody ever trained the model on the words of a prompt: the losses of the lab are of
 * what follows it (bench/pretrained/train.py too). */
export const learnedAnswers = (
  { hash }: Pick<OpenedModelFacts, 'hash'>,
  firstTry: FirstTry | undefined,
): boolean =>
  shippedModel(hash) !== undefined ||
  (firstTry?.experiment !== undefined && (firstTry.of === undefined || isShipped(firstTry.of)))

const isShipped = (name: string): boolean => SHIPPED.some((model) => model.name === name)
