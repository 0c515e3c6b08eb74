// One process for all of them: its start and the bundle of the workflows cost more than most of the tests.
import './idle.ts';
import './boundaries.ts';
import './faults.ts';
