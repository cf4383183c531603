import { AIRLINE } from './data.ts';
import type { Reservation } from './database.ts';
import type { Action, Task, Tasks } from './task.ts';

/** Forty requests to an airline, written for this benchmark: eight people, and five kinds of request for each. */

const call = (tool: string, given: Action['given']): Action => ({ tool, given });
const readUser = (user_id: string) => call('get_user_details', { user_id });
const read = (reservation_id: string) => call('get_reservation_details', { reservation_id });

const bookingOf = (person: number, number: number): Reservation => {
  const one = AIRLINE.reservations[`RB${person}${number}`];
  if (one === undefined) throw new Error(`There is no reservation RB${person}${number}.`);
  return one;
};

const searchFor = ({ origin, destination }: Reservation, date: string) =>
  call('search_direct_flight', { origin, destination, date });

/** The other flight of the day on the same route. */
const otherFlight = ({ flights }: Reservation): string => {
  const number = Number(flights[0]?.flight_number.slice(2));
  return `BX${number % 2 === 0 ? number + 1 : number - 1}`;
};

const NEW_DATE = '2026-05-14';

const cancelTwo = (person: number): Omit<Task, 'id'> => {
  const [one, two] = [bookingOf(person, 0), bookingOf(person, 2)];
  return {
    request: `I am ${one.user_id}. Cancel ${one.reservation_id} and ${two.reservation_id}, and tell me the refunds.`,
    actions: [
      readUser(one.user_id),
      ...[one, two].flatMap(({ reservation_id }) => [
        read(reservation_id),
        call('cancel_reservation', { reservation_id }),
      ]),
    ],
    facts: [one, two].map(({ payment_history }) => `-${payment_history[0]?.amount}`),
  };
};

const moveFlight = (person: number): Omit<Task, 'id'> => {
  const one = bookingOf(person, 1);
  const flights = [{ flight_number: otherFlight(one), date: NEW_DATE }];
  const { reservation_id, cabin } = one;
  return {
    request: `Move my reservation ${reservation_id} to the other flight on ${NEW_DATE}, by card. Which flight is it?`,
    actions: [
      read(reservation_id),
      searchFor(one, NEW_DATE),
      call('update_reservation_flights', { reservation_id, cabin, flights, payment_id: `card_${person}` }),
    ],
    facts: [otherFlight(one)],
  };
};

const addBags = (person: number): Omit<Task, 'id'> => {
  const numbers = person % 2 === 0 ? [3] : [2, 3];
  const ones = numbers.map((number) => bookingOf(person, number));
  return {
    request: `Add two bags to ${ones.map(({ reservation_id }) => reservation_id).join(' and ')}, paid by my gift card. What is its number?`,
    actions: [
      readUser(ones[0]?.user_id ?? ''),
      ...ones.flatMap(({ reservation_id, total_baggages }) => [
        read(reservation_id),
        call('update_reservation_baggages', {
          reservation_id,
          total_baggages: total_baggages + 2,
          nonfree_baggages: 1,
          payment_id: `gift_${person}`,
        }),
      ]),
    ],
    facts: [`gift_${person}`],
  };
};

const renameAndCompensate = (person: number): Omit<Task, 'id'> => {
  const { reservation_id, passengers, user_id } = bookingOf(person, 3);
  const amount = 50 + 10 * person;
  return {
    request: `My name in ${reservation_id} is wrong: it is Kim. For the trouble I was promised ${amount}.`,
    actions: [
      read(reservation_id),
      call('update_reservation_passengers', {
        reservation_id,
        passengers: passengers.map((one) => ({ ...one, last_name: 'Kim' })),
      }),
      readUser(user_id),
      call('send_certificate', { user_id, amount }),
    ],
    facts: [`${amount}`],
  };
};

const bookAgain = (person: number): Omit<Task, 'id'> => {
  const one = bookingOf(person, 0);
  const { user_id, origin, destination, passengers, reservation_id } = one;
  const flight = AIRLINE.flights[otherFlight(one)];
  const price = flight?.dates[NEW_DATE]?.prices?.economy ?? 0;
  const others = [1, 2].slice(0, person % 3).map((number) => read(bookingOf(person, number).reservation_id));
  return {
    request: `Book the trip of ${reservation_id} once more, in economy on ${NEW_DATE}, for me alone. Who else is on my bookings?`,
    actions: [
      readUser(user_id),
      read(reservation_id),
      ...others,
      searchFor(one, NEW_DATE),
      call('book_reservation', {
        ...{ user_id, origin, destination, flight_type: 'one_way', cabin: 'economy', insurance: 'no' },
        flights: [{ flight_number: flight?.flight_number, date: NEW_DATE }],
        passengers,
        payment_methods: [{ payment_id: `card_${person}`, amount: price }],
        ...{ total_baggages: 1, nonfree_baggages: 0 },
      }),
    ],
    facts: ['NEW4', `${price}`],
  };
};

const KINDS = { cancelTwo, moveFlight, addBags, renameAndCompensate, bookAgain };

export const OWN_TASKS: Tasks = {
  database: AIRLINE,
  tasks: Object.keys(AIRLINE.users).flatMap((_, person) =>
    Object.entries(KINDS).map(([kind, make]) => ({ id: `${kind}-${person}`, ...make(person) })),
  ),
};
