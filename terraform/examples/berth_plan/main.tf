resource "berth_plan" "example" {
  name          = "team"
  running_tasks = 50
  schedules     = 20
  weight        = 2.5

  # Left out only so that the example can be destroyed: a price book that a plan has named stays.
  # billing = { price_book = berth_price_book.eur.name, included = { tasks = 1000 }, minimum = 5000000 }
}
