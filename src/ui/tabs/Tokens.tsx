// Responses token by token.
import { Inspector } from '../inspector/Inspector.tsx'
import { Part } from '../Part.tsx'
import { Stages } from '../panels/Stages.tsx'

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
