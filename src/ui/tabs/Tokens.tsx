// Responses token by token.

import { Part } from '../base/Part.tsx'
import { Inspector } from '../tokens/inspector/Inspector.tsx'
import { Stages } from '../tokens/stages/Stages.tsx'

export default function Tokens() {
  return (
    <>
      <Part name="The token inspector">
        <Inspector />
      </Part>
      <Part name="The stages of a step">
        <Stages />
      </Part>
    </>
  )
}
