import type { Database, Flight, FlightDay, Reservation, User } from './database.ts';

const DATES = ['2026-05-11', '2026-05-12', '2026-05-13', '2026-05-14', '2026-05-15'];
const ROUTES = [
  'OSL-AMS',
  'AMS-OSL',
  'OSL-LIS',
  'LIS-OSL',
  'VIE-ATH',
  'ATH-VIE',
  'AMS-LIS',
  'LIS-AMS',
  'VIE-AMS',
  'AMS-VIE',
];
const PEOPLE = [
  'mira_holm',
  'jonas_vik',
  'clara_reis',
  'otto_lang',
  'eleni_pappa',
  'bram_smit',
  'nora_dahl',
  'rui_costa',
];
const CABINS = ['basic_economy', 'economy', 'business'] as const;

const dayOf = (route: number, day: number, second: boolean): FlightDay => {
  const price = 60 + 15 * route + 7 * day + (second ? 22 : 0);
  return {
    status: 'available',
    available_seats: { basic_economy: 9, economy: 12 - day, business: 4 },
    prices: { basic_economy: price, economy: price + 40, business: 3 * price },
  };
};

/** Two flights a day on each route. */
const flights: readonly Flight[] = ROUTES.flatMap((route, index) =>
  [false, true].map((second): Flight => {
    const [origin = '', destination = ''] = route.split('-');
    return {
      flight_number: `BX${100 + 2 * index + (second ? 1 : 0)}`,
      origin,
      destination,
      scheduled_departure_time_est: second ? '17:40:00' : '08:15:00',
      scheduled_arrival_time_est: second ? '20:25:00' : '11:00:00',
      dates: Object.fromEntries(DATES.map((date, day) => [date, dayOf(index, day, second)])),
    };
  }),
);

/** Each person has four reservations, `RB` with the number of the person and of the reservation. */
const reservationOf = (person: number, number: number): Reservation => {
  const flight = flights[(4 * person + 2 * number) % flights.length] as Flight;
  const date = DATES[(person + number) % DATES.length] as string;
  const cabin = CABINS[(person + number) % CABINS.length] as string;
  const price = flight.dates[date]?.prices?.[cabin] ?? 0;
  const [first_name = '', last_name = ''] = (PEOPLE[person] ?? '').split('_');
  return {
    reservation_id: `RB${person}${number}`,
    user_id: PEOPLE[person] ?? '',
    origin: flight.origin,
    destination: flight.destination,
    flight_type: 'one_way',
    cabin,
    flights: [
      { flight_number: flight.flight_number, date, origin: flight.origin, destination: flight.destination, price },
    ],
    passengers: [{ first_name, last_name, dob: `19${70 + person}-0${1 + number}-15` }],
    payment_history: [{ payment_id: `card_${person}`, amount: price }],
    total_baggages: number % 3,
    nonfree_baggages: 0,
    insurance: number % 2 === 0 ? 'yes' : 'no',
  };
};

const reservations = PEOPLE.flatMap((_, person) => [0, 1, 2, 3].map((number) => reservationOf(person, number)));

const userOf = (user_id: string, person: number): User => ({
  user_id,
  payment_methods: {
    [`card_${person}`]: { id: `card_${person}`, source: 'credit_card' },
    [`gift_${person}`]: { id: `gift_${person}`, source: 'gift_card', amount: 150 + 25 * person },
  },
  membership: ['regular', 'silver', 'gold'][person % 3] as string,
  reservations: [0, 1, 2, 3].map((number) => `RB${person}${number}`),
});

export const AIRLINE: Database = {
  users: Object.fromEntries(PEOPLE.map((name, person) => [name, userOf(name, person)])),
  reservations: Object.fromEntries(reservations.map((one) => [one.reservation_id, one])),
  flights: Object.fromEntries(flights.map((one) => [one.flight_number, one])),
};
