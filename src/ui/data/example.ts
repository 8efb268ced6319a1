// Offers rows for a person who has none at hand.

const COUNT = 400
/** An odd step through all texts of four digits, so that no two rows are the same. */
const STRIDE = 7919

/** JSON lines: the answer is the largest of four digits. */
export function exampleFile(): File {
  const rows = Array.from({ length: COUNT }, (_, i) => {
    const digits = String((i * STRIDE) % 10_000).padStart(4, '0')
    return JSON.stringify({
      question: `largest of ${[...digits].join(' ')}: `,
      answer: String(Math.max(...[...digits].map(Number))),
    })
  })
  return new File([`${rows.join('\n')}\n`], 'largest digit.jsonl')
}
