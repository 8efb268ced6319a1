// Draws the lists of studies, one's own and the lab's, below one search for both.
import { useState } from 'react'
import { useStore } from 'zustand'
import { isOfLab } from '../../../page/study/recorded.ts'
import { studyStore } from '../../../page/study/study_state.ts'
import { isFound } from '../../kit/fuzzy.ts'
import { DeletedStudies } from './DeletedStudies.tsx'
import { Gallery } from './Gallery.tsx'
import { galleryFamilies, STUDIES_OF_LAB } from './gallery_families.ts'
import { NewStudy } from './NewStudy.tsx'
import { OwnStudies } from './OwnStudies.tsx'

interface SearchProps {
  readonly query: string
  readonly found: number
  readonly all: number
  onQuery(query: string): void
}

function Search({ query, found, all, onQuery }: SearchProps) {
  return (
    <p className="study-search">
      <input
        type="search"
        aria-label="Search the studies"
        data-testid="study-search"
        placeholder="Search, such as teacher, or worse"
        value={query}
        onChange={({ target }) => onQuery(target.value)}
      />
      <span className="soft" role="status" data-testid="study-count">
        {query.trim() === '' ? `${all} studies` : `${found} of ${all} studies`}
      </span>
    </p>
  )
}

export function StudyList() {
  const [query, setQuery] = useState('')
  const { others } = useStore(studyStore)
  const own = others.filter((kept) => !isOfLab(kept))
  const ownFound = own.filter(({ study: { name, question, arms } }) =>
    isFound(query, [name, question, ...arms.map((arm) => arm.name)]),
  )
  const families = galleryFamilies(query)
  const found = families.reduce((sum, { members }) => sum + members.length, ownFound.length)
  return (
    <>
      <NewStudy />
      <Search query={query} found={found} all={own.length + STUDIES_OF_LAB} onQuery={setQuery} />
      <OwnStudies own={ownFound} />
      <DeletedStudies />
      <Gallery families={families} isFound={query.trim() !== ''} />
    </>
  )
}
