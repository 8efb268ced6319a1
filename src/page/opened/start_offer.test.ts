import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { decodeLink, encodeLink } from '../../document/links/link.ts'
import { startOffer } from './start_offer.ts'

const HASH = `sha256-${'a'.repeat(64)}`

/** The experiment of a link to one that begins with a model of this address. */
function linked(source_address: string) {
  const parsed = parseExperiment({ model: { source: HASH, source_name: 'tiny', source_address } })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return decodeLink(encodeLink(parsed.experiment)).experiment
}

test('who opens a link is offered the model that it begins with', () => {
  expect(startOffer(linked('hf:Qwen/Qwen3-0.6B@main'), HASH)).toEqual({
    address: 'hf:Qwen/Qwen3-0.6B@main',
    place: 'Qwen/Qwen3-0.6B on huggingface.co',
  })
  expect(startOffer(linked('https://models.example/tiny/'), HASH)?.place).toBe(
    'tiny on models.example',
  )
})

test.each(['', 'http://models.example/tiny/', 'javascript:alert(1)', 'hf:../..', 'https://a:b@c/'])(
  'an address such as %j is not offered',
  (address) => {
    expect(startOffer(linked(address), HASH)).toBeUndefined()
  },
)

test('so is a teacher', () => {
  const parsed = parseExperiment({ teacher: { source: HASH, source_address: 'hf:a/b@main' } })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  expect(startOffer(parsed.experiment, HASH)?.place).toBe('a/b on huggingface.co')
})

test('another file that is missing is not asked of a server', () => {
  expect(startOffer(linked('hf:a/b@main'), `sha256-${'b'.repeat(64)}`)).toBeUndefined()
})
