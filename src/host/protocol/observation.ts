// Names, for the page, what panels ask of a model's inside and the answers that the worker makes.
export {
  asksInside,
  asksMore,
  atMoment,
  LENS_TOP,
  type Lens,
  type LensReading,
  type LensReadout,
  type LensRequest,
  type LensSample,
  NO_OBSERVATION,
  OBSERVED_GROUPS,
  type Observation,
  type ObservationRequest,
  type ObservedGroup,
  type ObservedRows,
  type ObservedValues,
} from '../../rl/look/observation.ts'
