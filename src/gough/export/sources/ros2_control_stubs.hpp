// The part of ros2_control's interface that the example uses, so that it compiles without ROS. Written by gough.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rclcpp
{
struct Time {};
struct Duration {};
}  // namespace rclcpp

namespace rclcpp_lifecycle
{
struct State {};
}  // namespace rclcpp_lifecycle

namespace controller_interface
{
enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

class LoanedInterface
{
public:
  double get_value() const { return value_; }
  void set_value(double value) { value_ = value; }

private:
  double value_ = 0.0;
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;

  void resize(std::size_t states, std::size_t commands)
  {
    state_interfaces_.resize(states);
    command_interfaces_.resize(commands);
  }
  void set_state(std::size_t i, double value) { state_interfaces_.at(i).set_value(value); }
  double command(std::size_t i) const { return command_interfaces_.at(i).get_value(); }

protected:
  std::vector<LoanedInterface> state_interfaces_;
  std::vector<LoanedInterface> command_interfaces_;
};
}  // namespace controller_interface
