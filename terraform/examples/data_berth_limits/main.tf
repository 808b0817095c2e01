data "berth_limits" "mine" {}

check "room_for_schedules" {
  assert {
    condition     = alltrue([for quota in data.berth_limits.mine.quotas : quota.used < quota.limit])
    error_message = "A quota is used up."
  }
}
