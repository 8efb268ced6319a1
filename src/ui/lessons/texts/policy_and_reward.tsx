// Teaches what a policy and a reward are.
import { formatShare } from '../../kit/format.ts'
import { REWARD } from '../../shown/metrics.ts'
import { arxiv, type LessonContent, question, tryIt } from '../base/lesson.ts'
import { endsOf, notOver, notYet, seen, valuesIn, wholePhase } from '../base/run_facts.ts'
import { Ask } from '../parts/Ask.tsx'
import { Formula } from '../parts/Formula.tsx'
import { Try } from '../parts/Try.tsx'

const parts = {
  product: question(
    'A model gives the right digit with probability 0.9 at each of three places. How probable is the whole right answer, end token left aside?',
    [{ text: '0.9' }, { text: '0.73', is_right: true }, { text: '0.3' }],
    'Yes: 0.9 · 0.9 · 0.9 = 0.729. A long response needs every token to go well.',
    'The probability of a response is the product of those of its tokens.',
  ),
  reward: question(
    'Of 128 sampled responses 32 are right. What is the mean reward?',
    [{ text: '0.25', is_right: true }, { text: '32' }, { text: '−96' }],
    'Yes: a right answer scores 1 and a wrong one 0, so the mean is the share of right ones.',
    'Here the task scores 1 for a right answer and 0 for a wrong one.',
  ),
  train: tryIt(
    'A tiny model sorts three digits. It imitates for 66 steps; then reinforcement begins. Watch “reward, sampled”: it has to rise by 5 points.',
    'v=1&p=tiny-grpo&phases.1.steps=40',
    (run) => {
      const phase = wholePhase(run)
      const ends = endsOf(run, REWARD, phase)
      if (!ends)
        return notYet(`${valuesIn(run, REWARD, phase).length} of 10 steps of reinforcement so far.`)
      const says = `The share of right samples was ${formatShare(ends.before)} in the first five steps of reinforcement and is ${formatShare(ends.after)} in the last five.`
      return ends.after > ends.before + 0.05 ? seen(says) : notYet(says)
    },
  ),
  words: tryIt(
    'A small storyteller is given stories up to how they come out. A happy end scores 1, any other 0. When the run is over, read the ends before and after it.',
    'v=1&p=story-ends',
    (run) => {
      const phase = wholePhase(run)
      const ends = endsOf(run, REWARD, phase)
      const early = notOver(run)
      if (early || !ends) return early ?? notYet('No reward was measured.')
      const says = `In the first five steps ${formatShare(ends.before)} of the stories ended happily, in the last five ${formatShare(ends.after)}.`
      return ends.after > ends.before + 0.1 ? seen(says) : notYet(says)
    },
  ),
}

function Body() {
  return (
    <>
      <p>
        A language model reads a prompt, such as <code>302&gt;</code>, and gives a probability to
        every token that could come next. One is drawn, written down, and read with the rest; then
        the next one is drawn. Seen like this the model is a <b>policy</b>: a rule that says how
        probable each action is in each situation. The situation is the text so far, and the action
        is the next token.
      </p>
      <Formula tex="\pi_\theta(o \mid q) = \prod_{t=1}^{|o|} \pi_\theta(o_t \mid q, o_{<t})" />
      <p>
        Here <Formula inline tex="q" /> is the prompt, <Formula inline tex="o" /> the response, and{' '}
        <Formula inline tex="\theta" /> are the weights. The product says that a response is as
        probable as all of its tokens together.
      </p>
      <Ask name="product" of={parts.product} />
      <p>
        A <b>reward</b> is one number for a finished response. In this lab a short program usually
        computes it: it knows the right answer and gives 1 or 0. Nobody says <i>which token</i> was
        wrong, and nobody shows a better response. Reinforcement learning changes the weights so
        that the expected reward grows:
      </p>
      <Formula tex="J(\theta) = \mathbb{E}_{q,\; o \sim \pi_\theta(\cdot \mid q)} \big[ R(q, o) \big]" />
      <p>
        The reward is a program, so it has no gradient. The way around is the <i>policy gradient</i>
        : make each sampled token more probable in proportion to how good its response was, compared
        with what was to be expected. That comparison is called the advantage{' '}
        <Formula inline tex="A" />.
      </p>
      <Formula tex="\nabla_\theta J = \mathbb{E}\Big[ \sum_t A_t \,\nabla_\theta \log \pi_\theta(o_t \mid q, o_{<t}) \Big]" />
      <Ask name="reward" of={parts.reward} />
      <p>
        Two curves of the Learning tab are often confused. <i>Reward, sampled</i> is measured on
        what the policy draws at random while it trains. <i>Held-out, greedy</i> takes the most
        probable token each time, on problems that no step trains on. The second is usually higher.
      </p>
      <Try name="train" of={parts.train} />
      <h3>The same in words</h3>
      <p>
        Nothing above speaks of digits. Take <i>They looked everywhere, even under the stairs.</i>{' '}
        Each word that may follow is an action, and a program that reads the whole story gives the
        reward: whether it ends happily. <i>At last they</i> and <i>But the kite</i> begin two
        different ends, and one step makes the first a little more probable.
      </p>
      <Try name="words" of={parts.words} />
    </>
  )
}

export const lesson: LessonContent = {
  parts,
  Body,
  sources: [
    {
      title: 'Sutton and Barto, Reinforcement Learning: An Introduction, chapter 13',
      where: 'second edition, 2018',
      url: 'http://incompleteideas.net/book/the-book-2nd.html',
    },
    arxiv('2203.02155', 'Ouyang et al., Training language models to follow instructions'),
  ],
}
