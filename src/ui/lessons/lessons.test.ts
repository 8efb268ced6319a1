import { expect, test } from 'vitest'
import { decodeLink } from '../../lab/links/link.ts'
import { LESSONS } from './lessons.ts'

test('links', async () => {
  for (const lesson of LESSONS) {
    const { parts } = await lesson.load()
    for (const [name, part] of Object.entries(parts)) if (part.kind === 'try') {
      const { notices, experiment } = decodeLink(part.link)
      console.log('LINK', `${lesson.id}/${name}`, part.link, JSON.stringify(notices), experiment.phases.map(p=>p.kind+p.steps).join())
      expect(notices, lesson.id).toEqual([])
    }
  }
})
